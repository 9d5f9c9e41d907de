//! The reports, one module each. Their rows are codes, area codes, carriers or blocks.

pub(crate) mod canadian_blocks;
pub(crate) mod cnac;
pub(crate) mod nanpa;
pub(crate) mod npa_report;
pub(crate) mod overlay;
pub(crate) mod thousands_blocks;

use jiff::civil::Date;
use numbering::records::{Country, Npa, NpaNxx, Ocn, StateCode, Status};
use store::ReportName;

use crate::{outcome::Notes, table::Row};

/// A report's name in messages.
pub(crate) fn file(name: ReportName) -> &'static str {
    match name {
        ReportName::Nanpa => nanpa::REPORT.file,
        ReportName::Cnac => cnac::REPORT.file,
        ReportName::NpaReport => npa_report::REPORT.file,
        ReportName::ThousandsBlocks => thousands_blocks::REPORT.file,
        ReportName::CanadianBlocks => canadian_blocks::REPORT.file,
        ReportName::Carriers => overlay::REPORT.file,
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeRow {
    pub npa_nxx: NpaNxx,
    pub country: Country,
    pub state: Option<StateCode>,
    pub status: Status,
    pub ocn: Option<Ocn>,
    pub company: Option<String>,
    pub rate_center: Option<String>,
    pub assigned: Option<Date>,
}

/// Parses a thousands block's digit, such as `3` or `3000`.
fn block_digit(cell: &str) -> Result<u8, &'static str> {
    match cell.as_bytes() {
        [digit @ b'0'..=b'9'] | [digit @ b'0'..=b'9', b'0', b'0', b'0'] => Ok(digit - b'0'),
        _ => Err("must be exactly one digit"),
    }
}

/// Parses a code's status. An unknown word counts as reserved.
fn status<const N: usize>(
    row: &Row<'_, N>,
    column: usize,
    words: &[(Status, &[&str])],
    notes: &mut Notes,
) -> Status {
    let known = words.iter().find(|(_, words)| words.contains(&row.cells[column].as_ref()));
    if known.is_none() {
        row.warn(notes, column, "is unknown and is treated as RESERVED");
    }
    known.map_or(Status::Reserved, |&(status, _)| status)
}

/// Parses a postal code or the reports' own code for the Northern Mariana Islands. Ignores another country's states.
fn state<const N: usize>(
    row: &Row<'_, N>,
    column: usize,
    country: Option<Country>,
    notes: &mut Notes,
) -> Option<StateCode> {
    let state: StateCode = match row.cells[column].as_ref() {
        "NN" | "CNMI" => "MP".parse().expect("MP is the postal code of a US territory"),
        _ => row.parse_if_known(column, notes)?,
    };
    if country.is_some_and(|country| country != state.country()) {
        row.warn(notes, column, "is in another country and is ignored");
        return None;
    }
    Some(state)
}

/// Returns `true` if a row's area code is possible in the NANP. Otherwise notes that the row is skipped.
fn has_possible_npa<const N: usize>(
    row: &Row<'_, N>,
    column: usize,
    npa: Npa,
    notes: &mut Notes,
) -> bool {
    if !npa.can_be_area_code() {
        row.skip(notes, column, "has an impossible area code");
    }
    npa.can_be_area_code()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Report;

    pub(super) fn read<const N: usize, T>(report: &Report<N, T>, text: &str) -> (Vec<T>, String) {
        let mut notes = Notes::default();
        let (values, _) = report.read(&mut text.as_bytes(), &mut notes).unwrap();
        (values, format!("{notes:?}"))
    }
}
