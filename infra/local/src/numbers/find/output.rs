//! Prints the numbers in text: their lines, as `ripgrep` does, the numbers alone, JSON, or the redacted text.

use std::{io::Write, path::Path, sync::Arc};

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
use crate::numbers::args::FindArgs;

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
            let numbers = find_numbers(text, self.country, self.leniency)?;
            found.extend(numbers.into_iter().map(|NumberInText { range, number }| Found {
                start: start + range.start,
                tn: &text[range],
                number,
            }));
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
        let has_color = AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
        Self { format, path, describer, has_color }
    }

    /// The output for a part.
    pub fn page(&self, part: &Part) -> Result<Page, RulesFailed> {
        let mut page = Page::default();
        let mut position = part.start;
        for line in part.text.split_inclusive(|byte| *byte == b'\n') {
            let found = self.describer.find(line)?;
            page.has_numbers |= !found.is_empty();
            match self.format {
                Format::Redacted => redact(&mut page.text, line, &found),
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
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let mut end = 0;
        for Found { start, tn, .. } in found {
            text.extend_from_slice(&line[end..*start]);
            self.write_styled(text, NUMBER, tn);
            end = start + tn.len();
        }
        text.extend_from_slice(&line[end..]);
        text.push(b'\n');
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
            _ = serde_json::to_writer(&mut *text, &json);
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
        // Writing to memory never fails.
        _ = if self.has_color {
            write!(text, "{style}{content}{style:#}")
        } else {
            text.write_all(content.as_bytes())
        };
    }
}

/// Writes a line with each digit of its numbers masked.
fn redact(text: &mut Vec<u8>, line: &[u8], found: &[Found<'_>]) {
    let mut end = 0;
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
}
