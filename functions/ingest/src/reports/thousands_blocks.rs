//! NANPA's thousands block assignments: the holders of a pooled exchange's blocks.

use jiff::civil::Date;
use numbering::records::{Country, NpaNxx, Ocn, StateCode};

use super::{is_in_plan, state};
use crate::{
    error::ReportError,
    outcome::Notes,
    table::{Column, Report, Row, date, non_empty},
};

/// The report's name in messages.
pub(crate) const FILE: &str = "the thousands block report";

/// The report; available and reserved blocks are only counted, and may be the only ones.
pub(crate) const REPORT: Report<9, AssignedBlock> = Report {
    file: FILE,
    delimiter: b',',
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
    parse_row: assigned_block,
    is_usable: |_| true,
};

/// A thousands block and the carrier it is assigned to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AssignedBlock {
    pub npa_nxx: NpaNxx,
    /// The first of its numbers' last four digits.
    pub digit: u8,
    pub ocn: Ocn,
    pub company: Option<String>,
    pub rate_center: Option<String>,
    pub state: Option<StateCode>,
    /// The effective date of the assignment; immediate if missing.
    pub effective: Option<Date>,
}

fn assigned_block(
    row: &Row<'_, 9>,
    notes: &mut Notes,
) -> Result<Option<AssignedBlock>, ReportError> {
    let npa_nxx = NpaNxx { npa: row.parsed(1)?, nxx: row.parsed(2)? };
    if !is_in_plan(row, 1, npa_nxx.npa, notes) {
        return Ok(None);
    }
    let BlockDigit(digit) = row.parsed(3)?;
    let [_, _, _, _, status, _, _, _, effective_date] = &row.cells;
    let is_free = matches!(status.as_ref(), "AV" | "Available" | "RV" | "Reserved");
    if !is_free && !matches!(status.as_ref(), "AS" | "Assigned" | "RT" | "Retained") {
        row.warn(notes, 4, "is not known; the OCN beside it counts");
    }
    let effective = non_empty(effective_date).and_then(date);
    if effective.is_none() && !effective_date.is_empty() {
        row.leave_out(notes, 8, "is not a date");
        return Ok(None);
    }
    let holder = row.parsed_if_known(6, notes).filter(|_| !is_free);
    let Some(ocn) = holder else {
        notes.skip(format!("{FILE}: blocks without a holder"));
        return Ok(None);
    };
    Ok(Some(AssignedBlock {
        npa_nxx,
        digit,
        ocn,
        company: row.text(5),
        rate_center: row.text(7),
        state: state(row, 0, Some(Country::Us), notes),
        effective,
    }))
}

/// One of an exchange's ten blocks.
struct BlockDigit(u8);

impl std::str::FromStr for BlockDigit {
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
    use super::{super::tests::read, *};

    const HEADER: &str = "Region,State,NPA,NXX,X,STATUS,Code Holder,Contaminated (Y or N),Contaminated TNs not Available for Assignment,Rate Center,Block Effective Date,Block Available Date,Assigned To,OCN,Date Assigned\n";

    #[test]
    fn assigned_blocks_are_kept_and_others_counted() {
        let text = format!(
            "{HEADER}W,CA,415,200,3,AS,PACIFIC BELL,N,,SNFC CNTRL,01/02/2020,,VOICE – NETWORKS,464D,01/01/2020\n\
             W,CA,415,200,4,AV,PACIFIC BELL,N,,SNFC CNTRL,,01/02/2020,,,\n\
             W,CA,415,200,5,AS,,N,,,soon,,,464D,\n"
        );
        let (blocks, notes) = read(&REPORT, &text);
        let expected = AssignedBlock {
            npa_nxx: "415-200".parse().unwrap(),
            digit: 3,
            ocn: "464D".parse().unwrap(),
            company: Some("VOICE – NETWORKS".to_owned()),
            rate_center: Some("SNFC CNTRL".to_owned()),
            state: Some("CA".parse().unwrap()),
            effective: Some(Date::constant(2020, 1, 2)),
        };
        assert_eq!(blocks, [expected]);
        for expected in ["blocks without a holder\": 1", "'soon' in line 4"] {
            assert!(notes.contains(expected), "{notes}");
        }
    }

    #[test]
    fn only_free_blocks_are_accepted_and_missing_rows_refused() {
        let free = format!("{HEADER}W,CA,415,200,4,AV,,N,,SNFC CNTRL,,01/02/2020,,,\n");
        assert_eq!(read(&REPORT, &free).0, []);
        let wrong = format!("{HEADER}W,CA,415,200,12,AS,,N,,,,,X,464D,\n");
        for (text, expected) in [
            (HEADER, "the thousands block report holds no rows"),
            (
                &wrong,
                "the thousands block report, line 2, column X: '12' must be exactly one digit",
            ),
        ] {
            let error = REPORT.read(&mut text.as_bytes(), &mut Notes::default()).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
