//! NANPA's thousands block assignments: who holds which thousand numbers of a pooled exchange.

use std::io::Read;

use shared::records::{NpaNxx, Ocn, State};

use super::{Dated, state};
use crate::{
    IngestError,
    report::Notes,
    table::{Column, Form, Layout, Row},
};

pub(crate) const FILE: &str = "the thousands block assignments";

const FORM: Form<7> = Form {
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
    pub company: String,
    pub state: Option<State>,
}

/// The blocks that are assigned; available and reserved ones are skipped and counted.
pub(crate) fn parse(reader: &mut dyn Read, notes: &mut Notes) -> Result<Dated<Block>, IngestError> {
    FORM.collect(reader, notes, block)
}

fn block(row: &Row<'_, 7>, notes: &mut Notes) -> Result<Option<Block>, IngestError> {
    let npa_nxx = NpaNxx { npa: row.parsed(1)?, nxx: row.parsed(2)? };
    let digit = row.parsed::<Digit>(3)?.0;
    let [.., status, company, _] = &row.cells;
    let is_free = matches!(status.as_ref(), "AV" | "Available" | "RV" | "Reserved");
    if !is_free && !matches!(status.as_ref(), "AS" | "Assigned" | "RT" | "Retained") {
        row.warn(notes, 4, "is not known; the OCN beside it counts");
    }
    match row.known(6, notes).filter(|_| !is_free) {
        Some(ocn) => {
            let (company, state) = (company.clone().into_owned(), state(row, 0, notes));
            Ok(Some(Block { npa_nxx, digit, ocn, company, state }))
        }
        None => {
            notes.skip(format!("{FILE}: blocks without a holder"));
            Ok(None)
        }
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
            (block.ocn.to_string().as_str(), block.company.as_str()),
            ("464D", "VOICE – NETWORKS")
        );
        assert_eq!(notes.skipped().values().sum::<u32>(), 1);
    }

    #[test]
    fn a_block_is_one_digit() {
        let text = format!("{HEADER}W,CA,415,200,12,AS,,N,,,,,X,464D,\n");
        let error = parse(&mut text.as_bytes(), &mut Notes::default()).unwrap_err().to_string();
        assert!(error.ends_with("line 2, column X: '12' must be exactly one digit"), "{error}");
    }
}
