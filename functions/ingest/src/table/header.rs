//! A report's header: the columns' positions, the row length, and the date.

use csv::ByteRecord;
use jiff::civil::Date;

use super::{
    Line, ReportSchema, Row,
    cells::{date, decode_cell},
};
use crate::error::ReportError;

/// The positions of the wanted columns.
pub(super) struct Header<const N: usize> {
    /// Each schema column's position in a row; `None` if missing.
    places: [Option<usize>; N],
    /// The number of cells in a row.
    cells: usize,
    pub(super) date: Option<Date>,
}

/// Prefix of the header cell with the file's date. That cell has no column below it. Since 2020 the date is appended to
/// the `In Service` cell instead.
const FILE_UPDATED: &str = "File Updated";

impl<const N: usize> Header<N> {
    /// Parses a line as the header; `None` if it lacks a needed column.
    pub(super) fn find(schema: &ReportSchema<N>, line: &Line) -> Result<Option<Self>, ReportError> {
        let Line { record, number } = line;
        let places = schema
            .columns
            .map(|column| record.iter().position(|cell| column.is_named(&decode_cell(cell))));
        let is_complete = schema
            .columns
            .iter()
            .zip(&places)
            .all(|(column, place)| place.is_some() || !column.needed);
        if !is_complete {
            return Ok(None);
        }
        refuse_repeated(schema, record, *number)?;
        let last_cell = record.iter().next_back().map(decode_cell).unwrap_or_default();
        let around_label = last_cell.split_once(FILE_UPDATED);
        let is_only_date = around_label.is_some_and(|(before, _)| before.trim().is_empty());
        Ok(Some(Self {
            places,
            cells: record.len() - usize::from(is_only_date),
            date: around_label.and_then(|(_, after)| date(after.trim())),
        }))
    }

    /// Parses a line below the header as a row.
    pub(super) fn row<'a>(
        &self,
        schema: &'a ReportSchema<N>,
        line: &'a Line,
    ) -> Result<Row<'a, N>, ReportError> {
        let Line { record, number } = line;
        let (file, line, found, expected) = (schema.file, *number, record.len(), self.cells);
        if found != expected {
            return Err(ReportError::new(format!(
                "{file}, line {line}: the row has {found} cells and must have {expected}, as the \
                 header; check whether the file is cut off or a cell is not quoted"
            )));
        }
        let cells = self.places.map(|place| {
            let cell = place.and_then(|place| record.get(place));
            cell.map(decode_cell).unwrap_or_default()
        });
        Ok(Row { schema, line, cells })
    }
}

fn refuse_repeated<const N: usize>(
    schema: &ReportSchema<N>,
    record: &ByteRecord,
    line: u64,
) -> Result<(), ReportError> {
    for column in &schema.columns {
        let cells = record.iter().zip(1..);
        let named = cells.filter(|(cell, _)| column.is_named(&decode_cell(cell)));
        let places: Vec<usize> = named.map(|(_, place)| place).collect();
        if let [first, second, ..] = places[..] {
            let (file, column) = (schema.file, column.name());
            return Err(ReportError::new(format!(
                "{file}, line {line}: the header names the column {column} twice, in cells {first} \
                 and {second}; remove the column that is wrong"
            )));
        }
    }
    Ok(())
}
