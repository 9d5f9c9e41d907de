//! The header of a report: where its columns stand, how long its rows are, and its date.

use csv::ByteRecord;
use jiff::civil::Date;

use super::{
    Form, LONGEST_CELL, Line, Row,
    cells::{clean, date, shown},
};
use crate::IngestError;

/// Where the wanted columns stand.
pub(super) struct Header<const N: usize> {
    columns: [Option<usize>; N],
    cells: usize,
    pub(super) date: Option<Date>,
}

/// Begins the header cell that holds the file's date and stands above no column of its own, or
/// since 2020 shares one with `In Service`.
const FILE_UPDATED: &str = "File Updated";

impl<const N: usize> Header<N> {
    /// The header that a line is, if it names every needed column.
    ///
    /// # Errors
    /// Returns an error if it names a wanted column twice: only one of them can be meant.
    pub(super) fn of(form: &Form<N>, line: &Line) -> Result<Option<Self>, IngestError> {
        let Line { record, line } = line;
        let columns = form
            .columns
            .map(|column| (column, record.iter().position(|cell| column.is_named(&clean(cell)))));
        let complete = columns.iter().all(|(column, place)| place.is_some() || !column.needed);
        if !complete {
            return Ok(None);
        }
        refuse_repeated(form, record, *line)?;
        let last = record.iter().next_back().map(clean).unwrap_or_default();
        let updated = last.split_once(FILE_UPDATED);
        let above_nothing = updated.is_some_and(|(before, _)| before.trim().is_empty());
        Ok(Some(Self {
            columns: columns.map(|(_, place)| place),
            cells: record.len() - usize::from(above_nothing),
            date: updated.and_then(|(_, text)| date(text.trim())),
        }))
    }

    pub(super) fn row<'a>(
        &self,
        form: &'a Form<N>,
        line: &'a Line,
    ) -> Result<Row<'a, N>, IngestError> {
        let Line { record, line } = line;
        let (file, line, found, expected) = (form.file, *line, record.len(), self.cells);
        if found != expected {
            return Err(IngestError::Ragged { file, line, found, expected });
        }
        let cell = |place: Option<usize>| place.and_then(|at| record.get(at)).map(clean);
        let cells = self.columns.map(|place| cell(place).unwrap_or_default());
        let long = form.columns.iter().zip(&cells).find(|(_, cell)| cell.len() > LONGEST_CELL);
        match long {
            Some((column, cell)) => Err(IngestError::Cell {
                file,
                line,
                column: column.name(),
                value: shown(cell, 40),
                rule: format!("must have at most {LONGEST_CELL} bytes"),
            }),
            None => Ok(Row { form, line, cells }),
        }
    }
}

fn refuse_repeated<const N: usize>(
    form: &Form<N>,
    record: &ByteRecord,
    line: u64,
) -> Result<(), IngestError> {
    for column in &form.columns {
        let places = record.iter().enumerate().filter(|(_, cell)| column.is_named(&clean(cell)));
        let places: Vec<usize> = places.map(|(place, _)| place + 1).collect();
        if let [first, second, ..] = places[..] {
            let (file, column) = (form.file, column.name());
            return Err(IngestError::RepeatedColumn { file, line, column, first, second });
        }
    }
    Ok(())
}
