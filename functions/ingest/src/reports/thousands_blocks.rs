//! NANPA's thousands block assignments: who holds which thousand numbers of a pooled exchange.

use std::io::Read;

use jiff::civil::Date;
use numbering::records::{Country, NpaNxx, Ocn, StateCode};

use super::{Dated, is_in_plan, state};
use crate::{
    IngestError,
    report::Notes,
    table::{Column, Form, Layout, Row, date, filled},
};

pub(crate) const FILE: &str = "the thousands block assignments";

const FORM: Form<9> = Form {
    file: FILE,
    layout: Layout::Commas,
    columns: [
        Column::needed(&["State"]),
        Column::needed(&["NPA"]),
        Column::needed(&["NXX"]),
        Column::needed(&["X"]),
        Column::needed(&["STATUS"]),
        Column::needed(&["Assigned To"]),
        Column::needed(&["OCN"]),
        Column::needed(&["Rate Center"]),
        Column::needed(&["Block Effective Date"]),
    ],
    most_rows: 2_000_000,
};

/// A block with the carrier it is assigned to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub npa_nxx: NpaNxx,
    /// The first digit of its numbers' last four.
    pub digit: u8,
    pub ocn: Ocn,
    pub company: Option<String>,
    pub rate_center: Option<String>,
    pub state: Option<StateCode>,
    /// The first day it is the carrier's.
    pub effective: Option<Date>,
}

/// The blocks that are assigned; available and reserved ones are skipped and counted, and may be all
/// there are.
pub(crate) fn parse(reader: &mut dyn Read, notes: &mut Notes) -> Result<Dated<Block>, IngestError> {
    let mut blocks = Vec::new();
    let date = FORM.read(reader, notes, |row, notes| {
        blocks.extend(block(row, notes)?);
        Ok(())
    })?;
    Ok((blocks, date))
}

fn block(row: &Row<'_, 9>, notes: &mut Notes) -> Result<Option<Block>, IngestError> {
    let npa_nxx = NpaNxx { npa: row.parsed(1)?, nxx: row.parsed(2)? };
    if !is_in_plan(row, 1, npa_nxx.npa, notes) {
        return Ok(None);
    }
    let digit = row.parsed::<Digit>(3)?.0;
    let [_, _, _, _, status, company, _, rate_center, _] = &row.cells;
    let is_free = matches!(status.as_ref(), "AV" | "Available" | "RV" | "Reserved");
    if !is_free && !matches!(status.as_ref(), "AS" | "Assigned" | "RT" | "Retained") {
        row.warn(notes, 4, "is not known; the OCN beside it counts");
    }
    let Ok(effective) = effective(row) else {
        row.leave_out(notes, 8, "is not a date");
        return Ok(None);
    };
    match row.known(6, notes).filter(|_| !is_free) {
        Some(ocn) => Ok(Some(Block {
            npa_nxx,
            digit,
            ocn,
            company: filled(company).map(str::to_owned),
            rate_center: filled(rate_center).map(str::to_owned),
            state: state(row, 0, Some(Country::Us), notes),
            effective,
        })),
        None => {
            notes.skip(format!("{FILE}: blocks without a holder"));
            Ok(None)
        }
    }
}

/// A cell that is no date.
struct NoDate;

/// When the block begins to count; at once if the cell is empty.
fn effective(row: &Row<'_, 9>) -> Result<Option<Date>, NoDate> {
    match filled(&row.cells[8]) {
        Some(text) => date(text).map(Some).ok_or(NoDate),
        None => Ok(None),
    }
}

/// Which of an exchange's ten blocks.
struct Digit(u8);

impl std::str::FromStr for Digit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.as_bytes() {
            [digit @ b'0'..=b'9'] => Ok(Self(digit - b'0')),
            _ => Err("must be exactly one digit"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "Region,State,NPA,NXX,X,STATUS,Code Holder,Contaminated (Y or N),Contaminated TNs not Available for Assignment,Rate Center,Block Effective Date,Block Available Date,Assigned To,OCN,Date Assigned\n";

    #[test]
    fn assigned_blocks_are_kept_and_the_others_counted() {
        let text = format!(
            "{HEADER}W,CA,415,200,3,AS,PACIFIC BELL,N,,SNFC CNTRL,01/02/2020,,VOICE – NETWORKS,464D,01/01/2020\n\
             W,CA,415,200,4,AV,PACIFIC BELL,N,,SNFC CNTRL,,01/02/2020,,,\n"
        );
        let mut notes = Notes::default();
        let (blocks, _) = parse(&mut text.as_bytes(), &mut notes).unwrap();
        let [block] = blocks.as_slice() else { panic!("{blocks:?}") };
        assert_eq!((block.npa_nxx.to_string().as_str(), block.digit), ("415-200", 3));
        assert_eq!(
            (block.ocn.to_string().as_str(), block.company.as_deref()),
            ("464D", Some("VOICE – NETWORKS"))
        );
        assert_eq!(block.rate_center.as_deref(), Some("SNFC CNTRL"));
        assert_eq!(block.effective, Some(Date::constant(2020, 1, 2)));
        assert_eq!(notes.skipped().values().sum::<u32>(), 1);
    }

    #[test]
    fn a_file_of_free_blocks_only_is_counted_and_fine() {
        let text = format!("{HEADER}W,CA,415,200,4,AV,PACIFIC BELL,N,,SNFC CNTRL,,01/02/2020,,,\n");
        let mut notes = Notes::default();
        assert_eq!(parse(&mut text.as_bytes(), &mut notes).unwrap().0, []);
        assert_eq!(notes.skipped().values().sum::<u32>(), 1);
        let error = parse(&mut HEADER.as_bytes(), &mut notes).unwrap_err().to_string();
        assert_eq!(error, "the thousands block assignments holds no rows");
    }

    #[test]
    fn a_block_whose_effective_date_is_none_is_left_out_with_a_warning() {
        let text = format!("{HEADER}W,CA,415,200,3,AS,,N,,,soon,,,464D,\n");
        let mut notes = Notes::default();
        let (blocks, _) = parse(&mut text.as_bytes(), &mut notes).unwrap();
        assert_eq!(blocks.len(), 0);
        assert!(format!("{notes:?}").contains("'soon' in line 2"), "{notes:?}");
    }

    #[test]
    fn a_block_is_one_digit() {
        let text = format!("{HEADER}W,CA,415,200,12,AS,,N,,,,,X,464D,\n");
        let error = parse(&mut text.as_bytes(), &mut Notes::default()).unwrap_err().to_string();
        assert!(error.ends_with("line 2, column X: '12' must be exactly one digit"), "{error}");
    }
}
