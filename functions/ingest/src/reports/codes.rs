//! The code reports: NANPA's utilized central office codes and CNAC's CO code status. Each row is a code. Rows with an
//! impossible area code are skipped.

use jiff::civil::Date;
use numbering::records::{Country, NpaNxx, Ocn, StateCode, Status};
use store::ReportName;

use super::{Report, ReportRows, has_possible_npa, state};
use crate::{
    error::ReportError,
    notes::Notes,
    table::{Format, Row, date, non_empty},
};

pub(super) const NANPA: Report = Report {
    format: Format {
        name: ReportName::Nanpa,
        file: "the NANPA report of utilized codes",
        delimiter: b'\t',
        columns: "State, NPA-NXX, OCN, Company|Company Name, RateCenter, Use, AssignDate?",
        unused: "EffectiveDate, Initial/Growth, Pooled Code, In Service",
        max_rows: 640_000,
    },
    published_at: Some(
        "https://reports.nanpa.com/public/CoCodeAssignment_Utilized_AllStates_Public.zip",
    ),
    is_required: true,
    keeps_blocks_in: None,
    parse_row: us_code,
    figures: |_, quality| quality.exchanges_in(Country::Us),
};

pub(super) const CNAC: Report = Report {
    format: Format {
        name: ReportName::Cnac,
        file: "the CNAC code status",
        delimiter: b',',
        columns: "NPA, CO Code (NXX)|NXX|CO Code, Status, Exchange Area, Province, \
                  Company|Company Name, OCN",
        unused: "Pooled, Remarks",
        max_rows: 640_000,
    },
    published_at: Some("https://www.cnac.ca/data/COCodeStatus_ALL.zip"),
    is_required: true,
    keeps_blocks_in: None,
    parse_row: canadian_code,
    figures: |_, quality| quality.exchanges_in(Country::Ca),
};

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

type Words = (Status, &'static [&'static str]);

const US_STATUSES: [Words; 3] = [
    (Status::Assigned, &["AS"]),
    (Status::Unassigned, &["VC"]),
    (Status::Reserved, &["UA", "PR", "RV"]),
];

const CANADIAN_STATUSES: [Words; 3] = [
    (Status::Assigned, &["In Service", "Assigned", "Being Recovered"]),
    (Status::Unassigned, &["Available", "New NPA", "Recovered/Aging"]),
    (
        Status::Reserved,
        &[
            "For Special Use",
            "Not Available",
            "Moratorium on Assignment",
            "Plant Test",
            "TBP Test Code",
            "Stranded Code",
            "Protected",
            "New Entrants Reserved",
            "Temporarily Unavailable",
            "New NPA Testing",
        ],
    ),
];

/// The OCN column's placeholder for a code shared by several carriers.
const MULTIPLE: &str = "MULT";
/// The company column's placeholder for such a code, sometimes with a blank OCN.
const MULTIPLE_NAME: &str = "MULTIPLE OCN LISTING";
/// The rate center column's placeholders for codes without a rate center: N11 and 555.
const NO_RATE_CENTER: [&str; 2] = ["XXXXXXXXXX", "DIR ASST"];

fn us_code(row: &Row<'_>, rows: &mut ReportRows, notes: &mut Notes) -> Result<(), ReportError> {
    let npa_nxx: NpaNxx = row.parse(1)?;
    if !has_possible_npa(row, 1, npa_nxx.npa, notes) {
        return Ok(());
    }
    let assigned = non_empty(&row.cells[6]).and_then(date);
    if assigned.is_none() && !row.cells[6].is_empty() {
        row.warn_detail(notes, 6);
    }
    rows.codes.push(CodeRow {
        npa_nxx,
        country: Country::Us,
        state: state(row, 0, Some(Country::Us), notes),
        status: status(row, 5, &US_STATUSES, notes),
        ocn: if row.cells[2] == MULTIPLE { None } else { row.parse_if_known(2, notes) },
        company: row.text(3).filter(|name| name != MULTIPLE_NAME),
        rate_center: row.text(4).filter(|name| !NO_RATE_CENTER.contains(&name.as_str())),
        assigned,
    });
    Ok(())
}

fn canadian_code(
    row: &Row<'_>,
    rows: &mut ReportRows,
    notes: &mut Notes,
) -> Result<(), ReportError> {
    let npa_nxx = NpaNxx { npa: row.parse(0)?, nxx: row.parse(1)? };
    if !has_possible_npa(row, 0, npa_nxx.npa, notes) {
        return Ok(());
    }
    rows.codes.push(CodeRow {
        npa_nxx,
        country: Country::Ca,
        state: state(row, 4, Some(Country::Ca), notes),
        status: status(row, 2, &CANADIAN_STATUSES, notes),
        ocn: row.parse_if_known(6, notes),
        company: row.text(5),
        rate_center: row.text(3),
        assigned: None,
    });
    Ok(())
}

/// Parses a code's status. An unknown word counts as reserved.
fn status(row: &Row<'_>, column: usize, words: &[Words], notes: &mut Notes) -> Status {
    let known = words.iter().find(|(_, words)| words.contains(&row.cells[column].as_ref()));
    if known.is_none() {
        row.warn(notes, column, "is unknown and is treated as RESERVED");
    }
    known.map_or(Status::Reserved, |&(status, _)| status)
}
