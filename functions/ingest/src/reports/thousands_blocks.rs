//! NANPA's thousands block assignments: the holders of blocks in pooled exchanges.

use jiff::civil::Date;
use numbering::records::{Country, NpaNxx, Ocn, StateCode};

use super::{block_digit, has_possible_npa, state};
use crate::{
    error::ReportError,
    outcome::Notes,
    table::{Column, Report, Row, date, non_empty},
};

/// The report. Available and reserved blocks are only counted; a report may contain no others.
pub(crate) const REPORT: Report<9, AssignedBlock> = Report {
    file: "the thousands block report",
    delimiter: b',',
    columns: [
        Column::required(&["State"]),
        Column::required(&["NPA"]),
        Column::required(&["NXX"]),
        Column::required(&["X"]),
        Column::required(&["STATUS"]),
        Column::required(&["Assigned To"]),
        Column::required(&["OCN"]),
        Column::required(&["Rate Center"]),
        Column::required(&["Block Effective Date"]),
    ],
    unused: &[
        "Region",
        "Code Holder",
        "Contaminated (Y or N)",
        "Contaminated TNs not Available for Assignment",
        "Block Available Date",
        "Date Assigned",
    ],
    max_rows: 2_000_000,
    parse_row: assigned_block,
    is_usable: |_| true,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AssignedBlock {
    pub npa_nxx: NpaNxx,
    /// The country that the report is about.
    pub country: Country,
    /// The fourth-to-last digit of the block's numbers.
    pub digit: u8,
    pub ocn: Ocn,
    pub company: Option<String>,
    pub rate_center: Option<String>,
    pub state: Option<StateCode>,
    /// The date on which the assignment takes effect; `None` if immediately.
    pub effective: Option<Date>,
}

fn assigned_block(
    row: &Row<'_, 9>,
    notes: &mut Notes,
) -> Result<Option<AssignedBlock>, ReportError> {
    let npa_nxx = NpaNxx { npa: row.parse(1)?, nxx: row.parse(2)? };
    if !has_possible_npa(row, 1, npa_nxx.npa, notes) {
        return Ok(None);
    }
    let digit = row.parse_with(3, block_digit)?;
    let [_, _, _, _, status, _, _, _, effective_date] = &row.cells;
    let is_free = matches!(status.as_ref(), "AV" | "Available" | "RV" | "Reserved");
    if !is_free && !matches!(status.as_ref(), "AS" | "Assigned" | "RT" | "Retained") {
        row.warn(notes, 4, "is unknown, but the row's OCN is used");
    }
    let effective = non_empty(effective_date).and_then(date);
    if effective.is_none() && !effective_date.is_empty() {
        row.skip(notes, 8, "is not a date");
        return Ok(None);
    }
    let holder = row.parse_if_known(6, notes).filter(|_| !is_free);
    let Some(ocn) = holder else {
        notes.skip(REPORT.file, "blocks without a holder");
        return Ok(None);
    };
    Ok(Some(AssignedBlock {
        npa_nxx,
        country: Country::Us,
        digit,
        ocn,
        company: row.text(5),
        rate_center: row.text(7),
        state: state(row, 0, Some(Country::Us), notes),
        effective,
    }))
}

#[cfg(test)]
mod tests {
    use super::{super::tests::read, *};

    const HEADER: &str = "Region,State,NPA,NXX,X,STATUS,Code Holder,Contaminated (Y or N),Contaminated TNs not Available for Assignment,Rate Center,Block Effective Date,Block Available Date,Assigned To,OCN,Date Assigned\n";

    #[test]
    fn only_assigned_blocks_are_kept_and_others_are_counted() {
        let text = format!(
            "{HEADER}W,CA,415,200,3,AS,PACIFIC BELL,N,,SNFC CNTRL,01/02/2020,,VOICE – NETWORKS,464D,01/01/2020\n\
             W,CA,415,200,4,AV,PACIFIC BELL,N,,SNFC CNTRL,,01/02/2020,,,\n\
             W,CA,415,200,5,AS,,N,,,soon,,,464D,\n\
             W,CA,415,201,0,ZZ,,N,,,,,X,777D,\n"
        );
        let (blocks, notes) = read(&REPORT, &text);
        let expected = AssignedBlock {
            npa_nxx: "415-200".parse().unwrap(),
            country: Country::Us,
            digit: 3,
            ocn: "464D".parse().unwrap(),
            company: Some("VOICE – NETWORKS".to_owned()),
            rate_center: Some("SNFC CNTRL".to_owned()),
            state: Some("CA".parse().unwrap()),
            effective: Some(Date::constant(2020, 1, 2)),
        };
        let [assigned, unknown_status] = &blocks[..] else { panic!("{blocks:?}") };
        assert_eq!((assigned, unknown_status.ocn.to_string()), (&expected, "777D".to_owned()));
        for expected in ["blocks without a holder\"): 1", "'soon' on line 4", "'ZZ' on line 5"] {
            assert!(notes.contains(expected), "{notes}");
        }
        assert!(!notes.contains("'AS' in") && !notes.contains("'AV' in"), "{notes}");
    }

    #[test]
    fn every_status_says_whether_a_block_is_held() {
        for (status, is_held) in [
            ("AS", true),
            ("Assigned", true),
            ("RT", true),
            ("Retained", true),
            ("AV", false),
            ("Available", false),
            ("RV", false),
            ("Reserved", false),
        ] {
            let row = format!("W,CA,415,200,3,{status},,N,,,,,X,464D,\n");
            let (blocks, notes) = read(&REPORT, &format!("{HEADER}{row}"));
            assert_eq!(blocks.len(), usize::from(is_held), "{status}");
            assert!(!notes.contains("is unknown"), "{notes}");
        }
    }

    #[test]
    fn report_may_contain_only_free_blocks_but_not_be_empty_or_invalid() {
        let free = format!("{HEADER}W,CA,415,200,4,AV,,N,,SNFC CNTRL,,01/02/2020,,,\n");
        assert_eq!(read(&REPORT, &free).0, []);
        let wrong = format!("{HEADER}W,CA,415,200,12,AS,,N,,,,,X,464D,\n");
        for (text, expected) in [
            (HEADER, "the thousands block report has no rows"),
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
