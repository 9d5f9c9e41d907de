//! The block reports: NANPA's assignments and CNAC's status. Both name the holders of blocks in pooled exchanges.
//! Blocks without a holder are only counted.

use jiff::civil::Date;
use numbering::records::{Country, NpaNxx, Ocn, StateCode};
use store::ReportName;

use super::{Report, ReportRows, has_possible_npa, state};
use crate::{
    error::ReportError,
    notes::Notes,
    table::{Format, Row, date, non_empty},
};

pub(super) const NANPA: Report = Report {
    format: Format {
        name: ReportName::ThousandsBlocks,
        file: "the thousands block report",
        delimiter: b',',
        columns: "State, NPA, NXX, X, STATUS, Assigned To, OCN, Rate Center, \
                  Block Effective Date",
        unused: "Region, Code Holder, Contaminated (Y or N), \
                 Contaminated TNs not Available for Assignment, Block Available Date, \
                 Date Assigned",
        max_rows: 2_000_000,
    },
    published_at: Some(
        "https://reports.nanpa.com/public/ThousandsBlockAssignment_All_Augmented.zip",
    ),
    is_required: false,
    keeps_blocks_in: Some(Country::Us),
    parse_row: |row, rows, notes| assigned_block(row, &US_STATUSES, rows, notes),
    figures: |_, quality| quality.blocks_in(Country::Us),
};

/// CNAC's report also contains each exchange's own holder, which is not the block's.
pub(super) const CNAC: Report = Report {
    format: Format {
        name: ReportName::CanadianBlocks,
        file: "the CNAC block status",
        delimiter: b',',
        columns: "Province?, NPA, CO Code (NXX)|NXX|CO Code, \
                  Block|Thousands Block|Block (X)|X|Block ID|Block Number, \
                  Status|Block Status, Block Holder|Block Holder Name?, Block Holder OCN, \
                  Exchange Area|Rate Center|Rate Centre?, \
                  Block Effective Date|Effective Date?",
        unused: "Code Holder, Code Holder OCN, Remarks",
        max_rows: 640_000,
    },
    published_at: Some("https://www.cnac.ca/data/COBlockStatus_ALL.zip"),
    is_required: false,
    keeps_blocks_in: Some(Country::Ca),
    parse_row: |row, rows, notes| assigned_block(row, &CANADIAN_STATUSES, rows, notes),
    figures: |_, quality| quality.blocks_in(Country::Ca),
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AssignedBlock {
    pub npa_nxx: NpaNxx,
    /// The country that the report covers.
    pub country: Country,
    /// The digit of the block: the fourth-to-last digit of its numbers.
    pub digit: u8,
    pub ocn: Ocn,
    pub company: Option<String>,
    pub rate_center: Option<String>,
    pub state: Option<StateCode>,
    /// The date on which the assignment takes effect; `None` if immediately.
    pub effective: Option<Date>,
}

struct Statuses {
    country: Country,
    held: &'static [&'static str],
    free: &'static [&'static str],
    /// The handling of unknown statuses: `true` to treat the block as held, and the text of the warning.
    unknown: (bool, &'static str),
}

const US_STATUSES: Statuses = Statuses {
    country: Country::Us,
    held: &["AS", "Assigned", "RT", "Retained"],
    free: &["AV", "Available", "RV", "Reserved"],
    unknown: (true, "is unknown, but the row's OCN is used"),
};

const CANADIAN_STATUSES: Statuses = Statuses {
    country: Country::Ca,
    held: &["AS", "IS", "Assigned", "In Service"],
    free: &["AV", "Available", "RV", "Reserved", "NA", "Not Available"],
    unknown: (false, "is unknown, so the block counts as unassigned"),
};

fn assigned_block(
    row: &Row<'_>,
    statuses: &Statuses,
    rows: &mut ReportRows,
    notes: &mut Notes,
) -> Result<(), ReportError> {
    let &Statuses { country, held, free, unknown } = statuses;
    let npa_nxx = NpaNxx { npa: row.parse(1)?, nxx: row.parse(2)? };
    if !has_possible_npa(row, 1, npa_nxx.npa, notes) {
        return Ok(());
    }
    let digit = row.parse_with(3, block_digit)?;
    let status = row.cells[4].as_ref();
    let mut is_held = held.contains(&status);
    if !is_held && !free.contains(&status) {
        is_held = unknown.0;
        row.warn(notes, 4, unknown.1);
    }
    let effective = non_empty(&row.cells[8]).and_then(date);
    if effective.is_none() && !row.cells[8].is_empty() {
        row.skip(notes, 8, "is not a date");
        return Ok(());
    }
    let Some(ocn) = row.parse_if_known(6, notes).filter(|_| is_held) else {
        notes.skip(ReportName::blocks(country), "blocks without a holder");
        return Ok(());
    };
    rows.blocks.push(AssignedBlock {
        npa_nxx,
        country,
        digit,
        ocn,
        company: row.text(5),
        rate_center: row.text(7),
        state: state(row, 0, Some(country), notes),
        effective,
    });
    Ok(())
}

/// Parses a thousands block's digit, such as `3` or `3000`.
fn block_digit(cell: &str) -> Result<u8, &'static str> {
    match cell.as_bytes() {
        [digit @ b'0'..=b'9'] | [digit @ b'0'..=b'9', b'0', b'0', b'0'] => Ok(digit - b'0'),
        _ => Err("must be exactly one digit"),
    }
}
