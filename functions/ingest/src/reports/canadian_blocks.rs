//! CNAC's thousands block status: the holders of blocks in Canada's pooled exchanges.

use numbering::records::{Country, NpaNxx};

use super::{block_digit, has_possible_npa, state, thousands_blocks::AssignedBlock};
use crate::{
    error::ReportError,
    outcome::Notes,
    table::{Column, Report, Row, date, non_empty},
};

/// The report. Blocks that nobody holds are only counted. It also names each exchange's own holder, which is not the
/// block's.
pub(crate) const REPORT: Report<9, AssignedBlock> = Report {
    file: "the CNAC block status",
    delimiter: b',',
    columns: [
        Column::required(&["NPA"]),
        Column::required(&["CO Code (NXX)", "NXX", "CO Code"]),
        Column::required(&[
            "Block",
            "Thousands Block",
            "Block (X)",
            "X",
            "Block ID",
            "Block Number",
        ]),
        Column::required(&["Status", "Block Status"]),
        Column::required(&["Block Holder OCN"]),
        Column::optional(&["Block Holder", "Block Holder Name"]),
        Column::optional(&["Exchange Area", "Rate Center", "Rate Centre"]),
        Column::optional(&["Province"]),
        Column::optional(&["Block Effective Date", "Effective Date"]),
    ],
    unused: &["Code Holder", "Code Holder OCN", "Remarks"],
    max_rows: 640_000,
    parse_row: assigned_block,
    is_usable: |_| true,
};

const HELD: [&str; 4] = ["AS", "IS", "Assigned", "In Service"];
const FREE: [&str; 6] = ["AV", "Available", "RV", "Reserved", "NA", "Not Available"];

fn assigned_block(
    row: &Row<'_, 9>,
    notes: &mut Notes,
) -> Result<Option<AssignedBlock>, ReportError> {
    let npa_nxx = NpaNxx { npa: row.parse(0)?, nxx: row.parse(1)? };
    if !has_possible_npa(row, 0, npa_nxx.npa, notes) {
        return Ok(None);
    }
    let digit = row.parse_with(2, block_digit)?;
    let status = row.cells[3].as_ref();
    let is_held = HELD.contains(&status);
    if !is_held && !FREE.contains(&status) {
        row.warn(notes, 3, "is unknown, so the block counts as unassigned");
    }
    let effective = non_empty(&row.cells[8]).and_then(date);
    if effective.is_none() && !row.cells[8].is_empty() {
        row.skip(notes, 8, "is not a date");
        return Ok(None);
    }
    let Some(ocn) = row.parse_if_known(4, notes).filter(|_| is_held) else {
        notes.skip(REPORT.file, "blocks without a holder");
        return Ok(None);
    };
    Ok(Some(AssignedBlock {
        npa_nxx,
        country: Country::Ca,
        digit,
        ocn,
        company: row.text(5),
        rate_center: row.text(6),
        state: state(row, 7, Some(Country::Ca), notes),
        effective,
    }))
}

#[cfg(test)]
mod tests {
    use jiff::civil::Date;

    use super::{super::tests::read, *};

    #[test]
    fn held_blocks_have_the_block_holder_not_the_code_holder() {
        let text = "NPA,CO Code (NXX),Block,Code Holder,Code Holder OCN,Block Holder,Block Holder OCN,Status\n\
                    902,200,3,Eastlink,8087,\"Iristel Inc.\",7720,AS\n\
                    902,200,4,Eastlink,8087,Rogers,8303,IS\n\
                    902,200,5,Eastlink,8087,,,AV\n\
                    902,200,6000,Eastlink,8087,Rogers,8303,ZZ\n";
        let (blocks, notes) = read(&REPORT, text);
        let found = blocks.iter().map(|block| {
            format!("{}-{} {} {:?}", block.npa_nxx, block.digit, block.ocn, block.company)
        });
        let expected = ["902-200-3 7720 Some(\"Iristel Inc.\")", "902-200-4 8303 Some(\"Rogers\")"];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert!(notes.contains("'ZZ' on line 5"), "{notes}");
        assert!(notes.contains("blocks without a holder\"): 2"), "{notes}");
    }

    #[test]
    fn blocks_with_a_bad_date_are_skipped_and_others_keep_theirs() {
        let text = "NPA,NXX,Block,Block Holder OCN,Status,Block Effective Date\n\
                    902,200,3,7720,AS,2026-12-25\n\
                    902,200,4,7720,AS,soon\n\
                    902,200,5,7720,AS,\n";
        let (blocks, notes) = read(&REPORT, text);
        let dates: Vec<_> = blocks.iter().map(|block| (block.digit, block.effective)).collect();
        assert_eq!(dates, [(3, Some(Date::constant(2026, 12, 25))), (5, None)]);
        assert!(notes.contains("'soon' on line 3"), "{notes}");
        assert!(notes.contains("is not a date\"): 1"), "{notes}");
    }

    #[test]
    fn every_status_says_whether_a_block_is_held() {
        let row = |(digit, status): (usize, &&str)| format!("902,200,{digit},7720,{status}\n");
        for (statuses, held) in [(&HELD[..], HELD.len()), (&FREE[..], 0)] {
            let rows: String = statuses.iter().enumerate().map(row).collect();
            let (blocks, notes) =
                read(&REPORT, &format!("NPA,NXX,Block,Block Holder OCN,Status\n{rows}"));
            assert_eq!(blocks.len(), held, "{statuses:?}");
            assert!(!notes.contains("is unknown"), "{notes}");
        }
    }

    #[test]
    fn reports_that_are_not_understood_are_rejected() {
        for (text, expected) in [
            ("NPA,NXX,Block,Status,Block Holder\n902,200,3,AS,A\n", "Block Holder OCN"),
            (
                "NPA,NXX,Block,Status,Block Holder OCN\n902,200,12,AS,8303\n",
                "the CNAC block status, line 2, column Block: '12' must be exactly one digit",
            ),
        ] {
            let error = REPORT.read(&mut text.as_bytes(), &mut Notes::default()).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
