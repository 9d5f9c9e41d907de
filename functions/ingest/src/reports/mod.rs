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
