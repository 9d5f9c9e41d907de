//! Prints the numbers in text: as matching lines like `ripgrep`, as numbers only, as JSON, or as redacted text.

use std::{
    io::{IsTerminal, Write},
    path::Path,
};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use format::{Assembler, FormatResult, Include};
use formatting::{Languages, RulesError};
use jiff::Timestamp;
use serde::Serialize;
use shared::json::write_json_line;

use super::{FindArgs, Found, allowed::AllowedNumbers, find_in_line, redact, text_parts::Part};
use crate::data::numbering_data::NumberingData;
use crate::terminal::escape::{escape_controls, escape_lines};

const PATH: Style = AnsiColor::Magenta.on_default();
const LINE: Style = AnsiColor::Green.on_default();
const NUMBER: Style = AnsiColor::Red.on_default().bold();

/// The output for one part of the text, and the count of its numbers.
#[derive(Debug, Default)]
pub struct PartOutput {
    pub text: Vec<u8>,
    pub numbers: u64,
}

pub struct Output<'a> {
    args: &'a FindArgs,
    data: Option<&'a NumberingData>,
    /// Set by `--check`.
    allowed: Option<&'a AllowedNumbers>,
    include: Include,
    languages: Languages,
    now: Timestamp,
    /// Empty if the path is not printed.
    path: String,
    has_color: bool,
    is_terminal: bool,
}

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

impl<'a> Output<'a> {
    pub fn new(
        args: &'a FindArgs,
        data: Option<&'a NumberingData>,
        allowed: Option<&'a AllowedNumbers>,
        file: &Path,
        has_several_files: bool,
    ) -> Self {
        let has_path = has_several_files || allowed.is_some();
        let stdout = std::io::stdout();
        let mut path = if has_path { file.display().to_string() } else { String::new() };
        if allowed.is_some() {
            // In a job's log, a line break in a name could start a line that is read as a command.
            path = escape_controls(&path);
        }
        Self {
            args,
            data,
            allowed,
            include: args.include.clone().unwrap_or_default(),
            languages: args.lang.clone().unwrap_or_default(),
            now: Timestamp::now(),
            path,
            has_color: AutoStream::choice(&stdout) != ColorChoice::Never,
            is_terminal: stdout.is_terminal(),
        }
    }

    pub fn format_part(&self, part: &Part) -> Result<PartOutput, RulesError> {
        let FindArgs { country, leniency, redact, only_matching, json, .. } = self.args;
        let country = country.unwrap_or_default();
        let mut output = PartOutput::default();
        let lines = part.text.split_inclusive(|byte| *byte == b'\n');
        for (number, line) in (part.line..).zip(lines) {
            if *redact && self.allowed.is_none() {
                let (redacted, numbers) = redact::redact(line, country, *leniency)?;
                output.numbers += numbers as u64;
                self.write_text(&mut output.text, &redacted);
            } else {
                let mut found = find_in_line(line, country, leniency.unwrap_or_default())?;
                if let Some(allowed) = self.allowed {
                    allowed.remove_from(&mut found, line);
                }
                output.numbers += found.len() as u64;
                match () {
                    () if found.is_empty() => (),
                    () if self.allowed.is_some() => {
                        self.write_positions(&mut output.text, number, line, &found);
                    }
                    () if *json => self.write_json(&mut output.text, number, line, found),
                    () if *only_matching => self.write_numbers(&mut output.text, &found),
                    () => self.write_line(&mut output.text, number, line, &found),
                }
            }
        }
        Ok(output)
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

    /// Writes each number's position, with the column in code points, and the number with its digits masked.
    fn write_positions(&self, text: &mut Vec<u8>, number: u64, line: &[u8], found: &[Found<'_>]) {
        for Found { start, tn, .. } in found {
            self.write_prefix(text, number);
            let column = code_points(&line[..*start]) + 1;
            let masked = tn.replace(char::is_numeric, "*");
            // Writing to memory never fails.
            _ = write!(text, "{column}: ");
            self.write_styled(text, NUMBER, &masked);
            text.push(b'\n');
        }
    }

    fn write_json(&self, text: &mut Vec<u8>, number: u64, line: &[u8], found: Vec<Found<'_>>) {
        let &Self { include, languages, now, data, .. } = &self;
        let countries = data.map_or(&[][..], |data| &data.countries);
        let assembler =
            Assembler { include, languages, flags_base_url: None, now: *now, countries };
        let dataset = data.map(|data| &*data.dataset);
        let country = self.args.country.unwrap_or_default();
        for Found { start, tn, number: found } in found {
            let start = code_points(&line[..start]);
            let end = start + code_points(tn.as_bytes());
            let result = assembler.describe(tn, country, Some(found), dataset);
            let json = JsonLine { file: &self.path, line: number, start, end, tn, result };
            let mut row = Vec::new();
            // Writing to memory never fails, and all keys are strings.
            _ = write_json_line(&mut row, &json);
            self.write_text(text, &row);
        }
    }

    /// Writes the file and line in the style of `ripgrep`.
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

    /// Writes external text, escaped only on a terminal.
    fn write_text(&self, text: &mut Vec<u8>, content: &[u8]) {
        if self.is_terminal {
            text.extend(escape_lines(&String::from_utf8_lossy(content)).into_bytes());
        } else {
            text.extend_from_slice(content);
        }
    }
}

/// Counts code points in UTF-8. An invalid byte counts as one, unless it looks like a continuation byte.
fn code_points(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::parse_args;

    fn page(text: impl AsRef<[u8]>, arguments: &[&str], is_terminal: bool) -> Vec<u8> {
        let args = parse_args(arguments);
        let output = Output::new(&args, None, None, Path::new("a\u{1b}[2J.txt"), true);
        let output = Output { has_color: false, is_terminal, ..output };
        output.format_part(&Part { text: text.as_ref().to_vec(), line: 1 }).unwrap().text
    }

    #[test]
    fn control_and_direction_characters_are_escaped_only_on_terminals() {
        let text = "\u{1b}]8;;a\u{7}\t\u{202e}+44 20 7946 0958\r!\r\n";
        let escaped = |options: &[&str]| String::from_utf8(page(text, options, true)).unwrap();
        let raw = |options: &[&str]| String::from_utf8(page(text, options, false)).unwrap();
        let line = "\\u001b]8;;a\\u0007\t\\u202e+44 20 7946 0958\\u000d!\r\n";
        assert_eq!(escaped(&[]), format!("a\\u001b[2J.txt:1:{line}"));
        assert_eq!(escaped(&["--redact"]), line.replace("44 20 7946 0958", "** ** **** ****"));
        let line = "\u{1b}]8;;a\u{7}\t\u{202e}+44 20 7946 0958\r!\r\n";
        assert_eq!(raw(&[]), format!("a\u{1b}[2J.txt:1:{line}"));
        assert_eq!(raw(&["--redact"]), line.replace("44 20 7946 0958", "** ** **** ****"));
        let parse = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
        assert_eq!(parse(&escaped(&["--json"])), parse(&raw(&["--json"])));
    }

    #[test]
    fn redaction_changes_only_masked_bytes() {
        let [arabic, masked] = ["٣٠٥ ٢٣٤ ٥٦٧٨ ", "*** *** **** "].map(str::as_bytes);
        let text = b"\xef\xbb\xbfa\0b\r\r\n\xff(305) 234-5678\xfe\x001-800-FLOWERS\x80\t\n\nend";
        let expected = b"\xef\xbb\xbfa\0b\r\r\n\xff(***) ***-****\xfe\0*-***-*******\x80\t\n\nend";
        let redacted = page([arabic, text].concat(), &["--redact"], false);
        assert_eq!(redacted, [masked, expected].concat());
    }
}
