//! The reports, a module each: rows become codes, area codes, carriers and blocks.

pub(crate) mod cnac;
pub(crate) mod nanpa;
pub(crate) mod npa_report;
pub(crate) mod overlay;
pub(crate) mod thousands_blocks;

use jiff::civil::Date;
use shared::records::{Country, NpaNxx, Ocn, State, Status};

use crate::{report::Notes, table::Row};

/// A row of either country's code report, read but not yet joined with anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Code {
    pub npa_nxx: NpaNxx,
    pub country: Country,
    pub state: Option<State>,
    pub status: Status,
    pub ocn: Option<Ocn>,
    pub company: Option<String>,
    pub rate_center: Option<String>,
    /// When it was assigned, where the report says so.
    pub assigned: Option<Date>,
}

/// What a report holds, and the date it states for itself.
pub(crate) type Dated<T> = (Vec<T>, Option<Date>);

/// A state by its code in the reports: the postal one, but for the Northern Mariana Islands.
fn state<const N: usize>(row: &Row<'_, N>, column: usize, notes: &mut Notes) -> Option<State> {
    match row.cells[column].as_ref() {
        "NN" | "CNMI" => "MP".parse().ok(),
        _ => row.known(column, notes),
    }
}
