//! Prints the numbers in text: their lines, as `ripgrep` does, the numbers alone, JSON, or the redacted text.

use std::{
    io::{IsTerminal, Write},
    path::Path,
    sync::Arc,
};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use format::{
    FormatResult,
    extras::{Extras, Include, Subject},
};
use formatting::{
    DefaultCountry, Languages, Leniency, NumberInText, PhoneNumber, RulesFailed, find_numbers,
};
use jiff::Timestamp;
use numbering::{dataset::Dataset, time::date_of};
use serde::Serialize;

use super::input::{Part, Position, code_points};
use crate::{numbers::args::FindArgs, terminal::escape::escape_lines};

const PATH: Style = AnsiColor::Magenta.on_default();
const LINE: Style = AnsiColor::Green.on_default();
const NUMBER: Style = AnsiColor::Red.on_default().bold();
/// Replaces each digit of a redacted number.
const MASK: &[u8] = b"*";

/// Output for a part of the text.
#[derive(Debug, Default)]
pub struct Page {
    pub text: Vec<u8>,
    pub has_numbers: bool,
}

/// Finds numbers, and describes them with this data.
pub struct Describer {
    country: DefaultCountry,
    leniency: Leniency,
    include: Include,
    languages: Languages,
    dataset: Option<Arc<Dataset>>,
    now: Timestamp,
}

/// The output format for a file's numbers.
pub struct Output<'a> {
    format: Format,
    /// Empty if it is not printed.
    path: String,
    describer: &'a Describer,
    has_color: bool,
    is_terminal: bool,
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Lines,
    Numbers,
    Json,
    Redacted,
}

/// A number as a line of JSON.
#[derive(Serialize)]
struct JsonLine<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    file: &'a str,
    line: u64,
    start: u64,
    end: u64,
    tn: &'a str,
    result: FormatResult,
}

/// A number in a line.
struct Found<'a> {
    /// In bytes.
    start: usize,
    tn: &'a str,
    number: PhoneNumber,
}

impl Describer {
    pub fn new(args: &FindArgs, dataset: Option<Arc<Dataset>>) -> Self {
        Self {
            country: args.country.unwrap_or_default(),
            leniency: args.leniency,
            include: args.include.clone().unwrap_or_default(),
            languages: args.lang.clone().unwrap_or_default(),
            dataset,
            now: Timestamp::now(),
        }
    }

    /// The numbers in a line, whose invalid UTF-8 is skipped.
    fn find<'l>(&self, line: &'l [u8]) -> Result<Vec<Found<'l>>, RulesFailed> {
        let (mut found, mut start) = (Vec::new(), 0);
        for chunk in line.utf8_chunks() {
            let text = chunk.valid();
            for number in find_numbers(text, self.country, self.leniency) {
                let NumberInText { range, number } = number?;
                found.push(Found { start: start + range.start, tn: &text[range], number });
            }
            start += text.len() + chunk.invalid().len();
        }
        Ok(found)
    }

    fn describe(&self, tn: &str, number: PhoneNumber) -> FormatResult {
        let dataset = self.dataset.as_deref();
        let subject = Subject { text: tn, country: self.country, number: Some(&number) };
        let extras = Extras::find(&self.include, subject, &self.languages, dataset, self.now);
        FormatResult::in_memory(tn, Some(number), extras, dataset, date_of(self.now))
    }
}

impl<'a> Output<'a> {
    pub fn new(args: &FindArgs, describer: &'a Describer, file: &Path, has_path: bool) -> Self {
        let format = match args {
            FindArgs { redact: true, .. } => Format::Redacted,
            FindArgs { json: true, .. } => Format::Json,
            FindArgs { only_matching: true, .. } => Format::Numbers,
            _ => Format::Lines,
        };
        let path = if has_path { file.display().to_string() } else { String::new() };
        let stdout = std::io::stdout();
        let has_color = AutoStream::choice(&stdout) != ColorChoice::Never;
        Self { format, path, describer, has_color, is_terminal: stdout.is_terminal() }
    }

    /// The output for a part.
    pub fn page(&self, part: &Part) -> Result<Page, RulesFailed> {
        let mut page = Page::default();
        let mut position = part.start;
        for line in part.text.split_inclusive(|byte| *byte == b'\n') {
            let found = self.describer.find(line)?;
            page.has_numbers |= !found.is_empty();
            match self.format {
                Format::Redacted => self.write_text(&mut page.text, &redact(line, &found)),
                _ if found.is_empty() => (),
                Format::Lines => self.write_line(&mut page.text, position.line, line, &found),
                Format::Numbers => self.write_numbers(&mut page.text, &found),
                Format::Json => self.write_json(&mut page.text, position, line, found),
            }
            position = position.after(line);
        }
        Ok(page)
    }

    fn write_line(&self, text: &mut Vec<u8>, number: u64, line: &[u8], found: &[Found<'_>]) {
        self.write_prefix(text, number);
        let mut end = 0;
        for Found { start, tn, .. } in found {
            self.write_text(text, &line[end..*start]);
            self.write_styled(text, NUMBER, tn);
            end = start + tn.len();
        }
        self.write_text(text, &line[end..]);
        if !line.ends_with(b"\n") {
            text.push(b'\n');
        }
    }

    fn write_numbers(&self, text: &mut Vec<u8>, found: &[Found<'_>]) {
        for Found { tn, .. } in found {
            self.write_styled(text, NUMBER, tn);
            text.push(b'\n');
        }
    }

    fn write_json(&self, text: &mut Vec<u8>, at: Position, line: &[u8], found: Vec<Found<'_>>) {
        for Found { start, tn, number } in found {
            let start = at.column + code_points(&line[..start]);
            let end = start + code_points(tn.as_bytes());
            let result = self.describer.describe(tn, number);
            let json = JsonLine { file: &self.path, line: at.line, start, end, tn, result };
            // Writing to memory never fails, and the type has only string keys.
            let json = serde_json::to_vec(&json).unwrap_or_default();
            self.write_text(text, &json);
            text.push(b'\n');
        }
    }

    /// The file and line, as `ripgrep` writes them.
    fn write_prefix(&self, text: &mut Vec<u8>, line: u64) {
        if !self.path.is_empty() {
            self.write_styled(text, PATH, &self.path);
            text.push(b':');
        }
        self.write_styled(text, LINE, &line.to_string());
        text.push(b':');
    }

    fn write_styled(&self, text: &mut Vec<u8>, style: Style, content: &str) {
        let style = if self.has_color { style } else { Style::new() };
        // Writing to memory never fails.
        _ = write!(text, "{style}");
        self.write_text(text, content.as_bytes());
        _ = write!(text, "{style:#}");
    }

    /// Text from outside, which is escaped only on a terminal.
    fn write_text(&self, text: &mut Vec<u8>, content: &[u8]) {
        if self.is_terminal {
            text.extend(escape_lines(&String::from_utf8_lossy(content)).into_bytes());
        } else {
            text.extend_from_slice(content);
        }
    }
}

/// The line with each digit of its numbers masked.
fn redact(line: &[u8], found: &[Found<'_>]) -> Vec<u8> {
    let (mut text, mut end) = (Vec::new(), 0);
    for Found { start, tn, .. } in found {
        text.extend_from_slice(&line[end..*start]);
        for character in tn.chars() {
            if character.is_numeric() {
                text.extend_from_slice(MASK);
            } else {
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        end = start + tn.len();
    }
    text.extend_from_slice(&line[end..]);
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct TestCli {
        #[command(flatten)]
        args: FindArgs,
    }

    fn output(arguments: &[&str], is_terminal: bool) -> Vec<u8> {
        let args = TestCli::parse_from([&["find"], arguments].concat()).args;
        let describer = Describer::new(&args, None);
        let file = Path::new("a\u{1b}[2J.txt");
        let output = Output::new(&args, &describer, file, true);
        let output = Output { has_color: false, is_terminal, ..output };
        let text = "\u{1b}]8;;a\u{7}\t\u{202e}+44 20 7946 0958\r!\r\n".as_bytes().to_vec();
        output.page(&Part { text, start: Position { line: 1, column: 0 } }).unwrap().text
    }

    #[test]
    fn control_and_direction_characters_are_escaped_only_on_terminals() {
        let escaped = |options: &[&str]| String::from_utf8(output(options, true)).unwrap();
        let raw = |options: &[&str]| String::from_utf8(output(options, false)).unwrap();
        let line = "\\u001b]8;;a\\u0007\t\\u202e+44 20 7946 0958\\u000d!\r\n";
        assert_eq!(escaped(&[]), format!("a\\u001b[2J.txt:1:{line}"));
        assert_eq!(escaped(&["--redact"]), line.replace("44 20 7946 0958", "** ** **** ****"));
        let line = "\u{1b}]8;;a\u{7}\t\u{202e}+44 20 7946 0958\r!\r\n";
        assert_eq!(raw(&[]), format!("a\u{1b}[2J.txt:1:{line}"));
        assert_eq!(raw(&["--redact"]), line.replace("44 20 7946 0958", "** ** **** ****"));
        let parse = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
        assert_eq!(parse(&escaped(&["--json"])), parse(&raw(&["--json"])));
    }
}
