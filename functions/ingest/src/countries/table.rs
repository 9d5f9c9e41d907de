//! Reads the files that a country's description names.

use std::collections::HashMap;

use csv::{Position, StringRecord};

use super::{
    description::{Description, Layout, NamesDescription},
    files::{NamedFile, csv_reader, decode, is_named, next_record, position},
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
        let mut reader = csv_reader(delimiter, &text);
        let mut records = reader.records();
        let header = next_record(file, &mut records)?.unwrap_or_default();
        let [code, name] = [code, name].map(|column| position(&header, column));
        let (Some(code), Some(name)) = (code, name) else {
            return Err(ReportError::new(format!("{file} lacks a column with codes or names")));
        };
        while let Some(record) = next_record(file, &mut records)? {
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
        let mut reader = csv_reader(&self.layout.delimiter, &text);
        let mut records = reader.records();
        let has_header = self.layout.has_header;
        let header = if has_header { next_record(self.file, &mut records)? } else { None };
        let columns = self.columns(header.as_ref())?;
        header.iter().for_each(|header| self.warn_about_unknown_columns(header, rows));
        while let Some(record) = next_record(self.file, &mut records)? {
            let line = record.position().map_or(0, Position::line);
            rows.count += 1;
            Row { table: self, record: &record, line }.parse(&columns, rows)?;
        }
        Ok(())
    }

    fn columns(&self, header: Option<&StringRecord>) -> Result<Columns, ReportError> {
        let layout = self.layout;
        let column = |name: &String| {
            let found = match header {
                Some(header) => position(header, name),
                None => name.parse().ok().and_then(|position: usize| position.checked_sub(1)),
            };
            found.ok_or_else(|| ReportError::new(format!("{} lacks the column {name}", self.file)))
        };
        let columns =
            |names: &[String]| names.iter().map(column).collect::<Result<Vec<usize>, _>>();
        let optional = |name: &Option<String>| name.as_ref().map(column).transpose();
        Ok(Columns {
            block: columns(&layout.block)?,
            from: columns(&layout.from)?,
            to: columns(&layout.to)?,
            holder: column(&layout.holder)?,
            status: optional(&layout.status)?,
            date: optional(&layout.date)?,
            place: optional(&layout.place)?,
            length: optional(&layout.length)?,
        })
    }

    fn warn_about_unknown_columns(&self, header: &StringRecord, rows: &mut Rows) {
        let Layout { block, from, to, holder, status, date, place, length, unused, .. } =
            self.layout;
        let optional = [status, date, place, length].into_iter().flatten();
        let known =
            block.iter().chain(from).chain(to).chain([holder]).chain(optional).chain(unused);
        let known: Vec<&str> = known.flat_map(|column| column.split('|')).collect();
        for name in header.iter().filter(|name| !known.iter().any(|it| is_same_name(it, name))) {
            let kind = format!("{}: a column is unknown and is ignored", self.file);
            rows.warn(kind, format!("'{}'", excerpt(name, MAX_EXCERPT_LENGTH)));
        }
    }
}
