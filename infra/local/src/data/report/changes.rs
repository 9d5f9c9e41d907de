//! The changes of an import by record: the first few on the terminal, all of them in a file.

use std::{
    fmt::{self, Write as _},
    io::BufWriter,
    path::PathBuf,
    str::FromStr,
};

use indicatif::HumanCount;
use ingest::{ChangeKind, Changes, FieldChange, RecordChange};
use shared::cells::inert;

use crate::{CliError, new_file::NewFile};

/// Writes the first changes, one per line, and the number of others.
pub(super) fn write(table: &mut String, changes: &Changes) -> fmt::Result {
    writeln!(table, "Changes: {}", HumanCount(changes.total() as u64))?;
    for change in changes.listed() {
        writeln!(table, "  {}", printable(&line(&change)))?;
    }
    let unlisted = changes.unlisted();
    if unlisted > 0 {
        let more = HumanCount(unlisted as u64);
        writeln!(table, "  ... and {more} more; --changes FILE.csv or FILE.jsonl lists all")?;
    }
    Ok(())
}

fn line(RecordChange { change, record, key, fields }: &RecordChange) -> String {
    let lines = fields.iter().map(|(name, field)| match change {
        ChangeKind::Added => format!("{name} {}", value(&field.after)),
        ChangeKind::Removed => format!("{name} {}", value(&field.before)),
        ChangeKind::Changed => {
            format!("{name} {} -> {}", value(&field.before), value(&field.after))
        }
    });
    let listed = lines.collect::<Vec<_>>().join(", ");
    format!("{:<8}{:<10}{key:<8} {listed}", change.name(), kind(record))
}

/// The kind of a record, in words.
fn kind(record: &str) -> String {
    record.replace('_', " ")
}

fn value(value: &Option<String>) -> String {
    value.as_ref().map_or("none".to_owned(), |text| format!("'{text}'"))
}

/// Escapes characters that a terminal would obey: control characters and changes of text direction.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || changes_direction(character) {
            printable.extend(character.escape_unicode());
        } else {
            printable.push(character);
        }
    }
    printable
}

fn changes_direction(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// The output file for all changes, in the format of its extension.
#[derive(Debug, Clone)]
pub struct ChangesFile {
    path: PathBuf,
    /// Otherwise JSON Lines.
    is_csv: bool,
}

impl FromStr for ChangesFile {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let path = PathBuf::from(text);
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_lowercase).as_deref() {
            Some("csv") => Ok(Self { path, is_csv: true }),
            Some("jsonl") => Ok(Self { path, is_csv: false }),
            _ => Err("must end in .csv or .jsonl"),
        }
    }
}

impl ChangesFile {
    /// Checks that the file can be written, before anything is imported.
    pub fn check(&self, may_replace: bool) -> Result<(), CliError> {
        NewFile::file(&self.path, may_replace).map(drop)
    }

    /// Writes every change.
    pub fn write(&self, changes: &Changes, may_replace: bool) -> Result<(), CliError> {
        let new = NewFile::file(&self.path, may_replace)?;
        let mut file = BufWriter::new(new.create()?);
        let written = if self.is_csv {
            write_csv(&mut file, changes.iter())
        } else {
            write_json_lines(&mut file, changes.iter())
        };
        written.map_err(new.unwritable())?;
        new.finish()
    }
}

/// Writes one line per field, so a spreadsheet can sort and filter by it. No cell is a formula.
fn write_csv(
    file: impl std::io::Write,
    changes: impl Iterator<Item = RecordChange>,
) -> std::io::Result<()> {
    let mut csv = csv::Writer::from_writer(file);
    csv.write_record(["change", "record", "key", "field", "before", "after"])?;
    for RecordChange { change, record, key, fields } in changes {
        for (name, FieldChange { before, after }) in &fields {
            let [before, after] = [before, after].map(|value| value.as_deref().unwrap_or_default());
            let [before, after] = [before, after].map(inert);
            csv.write_record([change.name(), &kind(record), &key, name, &before, &after])?;
        }
    }
    csv.flush()
}

fn write_json_lines(
    mut file: impl std::io::Write,
    changes: impl Iterator<Item = RecordChange>,
) -> std::io::Result<()> {
    for change in changes {
        serde_json::to_writer(&mut file, &change)?;
        writeln!(file)?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: Option<&str>, after: Option<&str>) -> RecordChange {
        let [before, after] = [before, after].map(|value| value.map(str::to_owned));
        RecordChange {
            change: ChangeKind::Changed,
            record: "exchange",
            key: "415-200".to_owned(),
            fields: [("company_name".to_owned(), FieldChange { before, after })].into(),
        }
    }

    #[test]
    fn changed_records_show_old_and_new_values() {
        let line = line(&change(Some("A \u{1b}[31m\u{202e}"), None));
        assert_eq!(
            printable(&line),
            "changed exchange  415-200  company_name 'A \\u{1b}[31m\\u{202e}' -> none"
        );
    }

    #[test]
    fn csv_has_no_formulas_and_json_lines_have_one_record_each() {
        let changes = ["=1+1", "A=1"].map(|name| change(None, Some(name)));
        let (mut csv, mut lines) = (Vec::new(), Vec::new());
        write_csv(&mut csv, changes.clone().into_iter()).unwrap();
        write_json_lines(&mut lines, changes.into_iter()).unwrap();
        let row = |after: &str| format!("changed,exchange,415-200,company_name,,{after}\n");
        let expected =
            format!("change,record,key,field,before,after\n{}{}", row("'=1+1"), row("A=1"));
        assert_eq!(String::from_utf8(csv).unwrap(), expected);
        let lines = String::from_utf8(lines).unwrap();
        let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        let field = serde_json::json!({ "before": null, "after": "=1+1" });
        assert_eq!((lines.lines().count(), &first["fields"]["company_name"]), (2, &field));
    }
}
