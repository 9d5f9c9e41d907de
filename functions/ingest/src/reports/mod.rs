//! The reports, a module each: rows become codes, area codes, carriers and blocks.

pub(crate) mod cnac;
pub(crate) mod nanpa;
pub(crate) mod npa_report;
pub(crate) mod overlay;
pub(crate) mod thousands_blocks;

use jiff::civil::Date;
use numbering::records::{Country, Npa, NpaNxx, Ocn, StateCode, Status};

use crate::{report::Notes, table::Row};

/// A row of either country's code report, read but not yet joined with anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Code {
    pub npa_nxx: NpaNxx,
    pub country: Country,
    pub state: Option<StateCode>,
    pub status: Status,
    pub ocn: Option<Ocn>,
    pub company: Option<String>,
    pub rate_center: Option<String>,
    /// When it was assigned, where the report says so.
    pub assigned: Option<Date>,
}

/// What a report holds, and the date it states for itself.
pub(crate) type Dated<T> = (Vec<T>, Option<Date>);

/// A state by its code in the reports: the postal one, but for the Northern Mariana Islands. One
/// that is not in the row's country is left out with a warning.
fn state<const N: usize>(
    row: &Row<'_, N>,
    column: usize,
    country: Option<Country>,
    notes: &mut Notes,
) -> Option<StateCode> {
    let state: StateCode = match row.cells[column].as_ref() {
        "NN" | "CNMI" => "MP".parse().ok(),
        _ => row.known(column, notes),
    }?;
    if country.is_some_and(|country| country != state.country()) {
        row.warn(notes, column, "is in another country than its row and left out");
        return None;
    }
    Some(state)
}

/// Whether the numbering plan can have the area code of a row. A row for which it cannot is noted as
/// left out: its area code would become one that nobody can dial.
fn is_in_plan<const N: usize>(
    row: &Row<'_, N>,
    column: usize,
    npa: Npa,
    notes: &mut Notes,
) -> bool {
    let can_be = npa.can_be_area_code();
    if !can_be {
        row.leave_out(notes, column, "cannot be an area code of the plan");
    }
    can_be
}
