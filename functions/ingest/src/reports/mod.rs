//! The reports, one module each: their rows become codes, area codes, carriers and blocks.

pub(crate) mod cnac;
pub(crate) mod nanpa;
pub(crate) mod npa_report;
pub(crate) mod overlay;
pub(crate) mod thousands_blocks;

use jiff::civil::Date;
use numbering::records::{Country, Npa, NpaNxx, Ocn, StateCode, Status};

use crate::{outcome::Notes, table::Row};

/// A row in either country's code report, read but not yet joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeRow {
    pub npa_nxx: NpaNxx,
    pub country: Country,
    pub state: Option<StateCode>,
    pub status: Status,
    pub ocn: Option<Ocn>,
    pub company: Option<String>,
    pub rate_center: Option<String>,
    /// The assignment date, if the report states it.
    pub assigned: Option<Date>,
}

/// A code's status, by the report's words for each; an unknown word counts as reserved.
fn status<const N: usize>(
    row: &Row<'_, N>,
    column: usize,
    words: &[(Status, &[&str])],
    notes: &mut Notes,
) -> Status {
    let cell = row.cells[column].as_ref();
    let known = words.iter().find(|(_, words)| words.contains(&cell));
    known.map_or_else(
        || {
            row.warn(notes, column, "is not known and taken as RESERVED");
            Status::Reserved
        },
        |&(status, _)| status,
    )
}

/// A state by its code in the reports: the postal code, except for the Northern Mariana Islands. A state outside the
/// row's country is left out with a warning.
fn state<const N: usize>(
    row: &Row<'_, N>,
    column: usize,
    country: Option<Country>,
    notes: &mut Notes,
) -> Option<StateCode> {
    let state: StateCode = match row.cells[column].as_ref() {
        "NN" | "CNMI" => "MP".parse().expect("MP is the postal code of a US territory"),
        _ => row.parsed_if_known(column, notes)?,
    };
    if country.is_some_and(|country| country != state.country()) {
        row.warn(notes, column, "is in another country than its row and left out");
        return None;
    }
    Some(state)
}

/// `true` if a row's area code can exist in the numbering plan. Otherwise the row is noted as skipped: nobody could
/// dial its area code.
fn is_in_plan<const N: usize>(
    row: &Row<'_, N>,
    column: usize,
    npa: Npa,
    notes: &mut Notes,
) -> bool {
    let is_possible = npa.can_be_area_code();
    if !is_possible {
        row.leave_out(notes, column, "cannot be an area code of the plan");
    }
    is_possible
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Report;

    /// The values of a report and, as text, what was noted about it.
    pub(super) fn read<const N: usize, T>(report: &Report<N, T>, text: &str) -> (Vec<T>, String) {
        let mut notes = Notes::default();
        let (values, _) = report.read(&mut text.as_bytes(), &mut notes).unwrap();
        (values, format!("{notes:?}"))
    }
}
