//! Reads the files that a country's description names.

use std::collections::HashMap;

use csv::{Position, StringRecord};

use super::{
    description::{Description, NamesDescription},
    files::{NamedFile, csv_records, decode, is_named, position},
    row::{Columns, MAX_EXCERPT_LENGTH, Row, Table},
    rows::Rows,
};
use crate::{
    error::ReportError,
    table::{MAX_CELL_LENGTH, excerpt, is_same_name},
};

/// Reads the files that the description names, and ignores others.
pub(super) fn read_files(
    description: &Description,
    files: &[NamedFile],
) -> Result<Rows, ReportError> {
    let mut rows = Rows::default();
    let names = description.names.as_ref().map(|names| read_names(names, files)).transpose()?;
    for file in &description.files {
        let Some(layout) = description.layout(file) else { continue };
        for (name, bytes) in files.iter().filter(|(name, _)| is_named(name, &file.name)) {
            let meanings = description.statuses.meanings();
            let table = Table { file: name, layout, meanings, names: names.as_ref() };
            table.parse(bytes, &mut rows)?;
            rows.covered.extend(file.covers.iter().cloned());
        }
    }
    if rows.ranges.is_empty() {
        return Err(no_usable_rows(description, files, &rows));
    }
    Ok(rows)
}

fn no_usable_rows(description: &Description, files: &[NamedFile], rows: &Rows) -> ReportError {
    let names = |names: Vec<&str>| excerpt(&names.join(", "), MAX_CELL_LENGTH);
    if rows.count > 0 {
        let reasons: Vec<&str> = rows.skipped.keys().map(String::as_str).collect();
        let reasons = reasons.join(", ");
        return ReportError::new(format!("none of the {} rows is usable: {reasons}", rows.count));
    }
    let expected = names(description.files.iter().map(|file| file.name.as_str()).collect());
    let found = match files {
        [] => "none".to_owned(),
        files => names(files.iter().map(|(name, _)| name.as_str()).collect()),
    };
    ReportError::new(format!(
        "no usable rows: expected files whose names start with {expected}, found {found}"
    ))
}

/// Reads the names behind the codes in the holder column.
fn read_names(
    NamesDescription { file, delimiter, encoding, code, name }: &NamesDescription,
    files: &[NamedFile],
) -> Result<HashMap<String, String>, ReportError> {
    let mut names = HashMap::new();
    for (file, bytes) in files.iter().filter(|(found, _)| is_named(found, file)) {
        let text = decode(file, encoding, bytes)?;
        let mut records = csv_records(file, delimiter, &text);
        let header = records.next().transpose()?.unwrap_or_default();
        let [code, name] = [code, name].map(|column| position(&header, column));
        let (Some(code), Some(name)) = (code, name) else {
            return Err(ReportError::new(format!("{file} lacks a column with codes or names")));
        };
        for record in records {
            let record = record?;
            if let (Some(code), Some(name)) = (record.get(code), record.get(name)) {
                names.insert(code.trim().to_owned(), name.trim().to_owned());
            }
        }
    }
    Ok(names)
}

impl Table<'_> {
    fn parse(&self, bytes: &[u8], rows: &mut Rows) -> Result<(), ReportError> {
        let text = decode(self.file, &self.layout.encoding, bytes)?;
        let mut records = csv_records(self.file, &self.layout.delimiter, &text);
        let header = if self.layout.has_header { records.next().transpose()? } else { None };
        let columns = self.columns(header.as_ref())?;
        header.iter().for_each(|header| self.warn_about_unknown_columns(header, rows));
        for record in records {
            let record = record?;
            let line = record.position().map_or(0, Position::line);
            rows.count += 1;
            Row { table: self, columns: &columns, record: &record, line }.parse(rows)?;
        }
        Ok(())
    }

    fn columns(&self, header: Option<&StringRecord>) -> Result<Columns<'_>, ReportError> {
        let columns = self.layout.columns().map(|name| {
            let found = match header {
                Some(header) => position(header, name),
                None => name.parse().ok().and_then(|position: usize| position.checked_sub(1)),
            };
            let lacks = || ReportError::new(format!("{} lacks the column {name}", self.file));
            found.map(|position| (name.as_str(), position)).ok_or_else(lacks)
        });
        columns.collect()
    }

    fn warn_about_unknown_columns(&self, header: &StringRecord, rows: &mut Rows) {
        let known = self.layout.columns().chain(&self.layout.unused);
        let known: Vec<&str> = known.flat_map(|column| column.split('|')).collect();
        for name in header.iter().filter(|name| !known.iter().any(|it| is_same_name(it, name))) {
            let kind = format!("{}: a column is unknown and is ignored", self.file);
            rows.warn(kind, format!("'{}'", excerpt(name, MAX_EXCERPT_LENGTH)));
        }
    }
}
