//! An import's changes by record: the first few in the terminal, and all of them in a file.

use std::{
    fmt::{self, Write as _},
    io::BufWriter,
    path::PathBuf,
    str::FromStr,
};

use indicatif::HumanCount;
use ingest::Changes;
use numbering::changes::{ChangeKind, FieldChange, RecordChange, RecordKind, value_text};
use serde::Serialize;
use serde_json::Value;
use shared::{csv_pages::write_rows, json::write_json_lines};

use crate::{
    CliError,
    new_file::{Kind, NewFile},
    terminal::escape::escape_controls,
};

/// Writes the first changes, one per line, and the number of changes that were left out.
pub(super) fn write(table: &mut String, changes: &Changes) -> fmt::Result {
    writeln!(table, "Changes: {}", HumanCount(changes.total() as u64))?;
    for change in changes.listed() {
        writeln!(table, "  {}", escape_controls(&describe(&change)))?;
    }
    let unlisted = changes.unlisted_count();
    if unlisted > 0 {
        let more = HumanCount(unlisted as u64);
        writeln!(table, "  ... and {more} more; --changes FILE.csv or FILE.jsonl lists all")?;
    }
    Ok(())
}

fn describe(RecordChange { change, kind, key, fields }: &RecordChange) -> String {
    let quote = |value: &Option<Value>| match value {
        Some(value) => format!("'{}'", value_text(value)),
        None => "none".to_owned(),
    };
    let fields = fields.iter().map(|(name, FieldChange { before, after })| match change {
        ChangeKind::Added => format!("{name} {}", quote(after)),
        ChangeKind::Removed => format!("{name} {}", quote(before)),
        ChangeKind::Changed => format!("{name} {} -> {}", quote(before), quote(after)),
    });
    let fields = fields.collect::<Vec<_>>().join(", ");
    format!("{change:<8}{:<10}{key:<8} {fields}", kind.to_string().replace('_', " "))
}

/// The output file for all changes. Its extension selects the format.
#[derive(Debug, Clone)]
pub struct ChangesFile {
    path: PathBuf,
    /// `true` for CSV, `false` for JSON Lines.
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
    pub fn check(&self, may_replace: bool) -> Result<(), CliError> {
        NewFile::create(&self.path, Kind::File, may_replace).map(drop)
    }

    pub fn write(&self, changes: &Changes, may_replace: bool) -> Result<(), CliError> {
        let new = NewFile::create(&self.path, Kind::File, may_replace)?;
        let file = BufWriter::new(new.open()?);
        let result = if self.is_csv {
            write_rows(file, COLUMNS, changes.iter().flat_map(changed_fields))
        } else {
            write_json_lines(file, changes.iter())
        };
        result.map_err(new.unwritable())?;
        new.finish()
    }
}

#[derive(Serialize)]
struct ChangedField {
    change: ChangeKind,
    kind: RecordKind,
    key: String,
    field: String,
    #[serde(flatten)]
    values: FieldChange,
}

const COLUMNS: &str = "change kind key field before after";

fn changed_fields(change: RecordChange) -> impl Iterator<Item = ChangedField> {
    let RecordChange { change, kind, key, fields } = change;
    let row = move |(field, values)| ChangedField { change, kind, key: key.clone(), field, values };
    fields.into_iter().map(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_formulas_are_escaped() {
        let before = Some("A \u{1b}[31m\u{202e}".into());
        let field = FieldChange { before, after: Some("=1+1".into()) };
        let change = RecordChange {
            change: ChangeKind::Changed,
            kind: RecordKind::Exchange,
            key: "415-200".to_owned(),
            fields: [("company_name".to_owned(), field)].into(),
        };
        let expected = "changed exchange  415-200  company_name 'A \\u001b[31m\\u202e' -> '=1+1'";
        assert_eq!(escape_controls(&describe(&change)), expected);
        let mut csv = Vec::new();
        write_rows(&mut csv, COLUMNS, changed_fields(change)).unwrap();
        assert!(String::from_utf8(csv).unwrap().ends_with(",'=1+1\r\n"));
    }
}
