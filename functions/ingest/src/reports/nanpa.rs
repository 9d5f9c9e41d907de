//! NANPA's report of utilized central office codes: US exchanges.

use jiff::civil::Date;
use numbering::records::{Country, NpaNxx, Status};

use super::{CodeRow, has_possible_npa, state, status};
use crate::{
    error::ReportError,
    outcome::Notes,
    table::{Column, Report, Row, date, non_empty},
};

/// The report. Each row is a code, and is skipped if its area code is impossible.
pub(crate) const REPORT: Report<7, CodeRow> = Report {
    file: "the NANPA report of utilized codes",
    delimiter: b'\t',
    columns: [
        Column::required(&["State"]),
        Column::required(&["NPA-NXX"]),
        Column::required(&["OCN"]),
        Column::required(&["Company", "Company Name"]),
        Column::required(&["RateCenter"]),
        Column::required(&["Use"]),
        Column::optional(&["AssignDate"]),
    ],
    unused: &["EffectiveDate", "Initial/Growth", "Pooled Code", "In Service"],
    max_rows: 640_000,
    parse_row: code_row,
    is_usable: |codes| !codes.is_empty(),
};

const STATUSES: [(Status, &[&str]); 3] = [
    (Status::Assigned, &["AS"]),
    (Status::Unassigned, &["VC"]),
    (Status::Reserved, &["UA", "PR", "RV"]),
];

/// The OCN column's placeholder for a code shared by several carriers.
const MULTIPLE: &str = "MULT";
/// The company column's placeholder for such a code, sometimes with a blank OCN.
const MULTIPLE_NAME: &str = "MULTIPLE OCN LISTING";
/// The rate center column's placeholders for codes without a rate center: N11 and 555.
const NO_RATE_CENTER: [&str; 2] = ["XXXXXXXXXX", "DIR ASST"];

fn code_row(row: &Row<'_, 7>, notes: &mut Notes) -> Result<Option<CodeRow>, ReportError> {
    let npa_nxx: NpaNxx = row.parse(1)?;
    if !has_possible_npa(row, 1, npa_nxx.npa, notes) {
        return Ok(None);
    }
    Ok(Some(CodeRow {
        npa_nxx,
        country: Country::Us,
        state: state(row, 0, Some(Country::Us), notes),
        status: status(row, 5, &STATUSES, notes),
        ocn: if row.cells[2] == MULTIPLE { None } else { row.parse_if_known(2, notes) },
        company: row.text(3).filter(|name| name != MULTIPLE_NAME),
        rate_center: row.text(4).filter(|name| !NO_RATE_CENTER.contains(&name.as_str())),
        assigned: assigned_on(row, notes),
    }))
}

fn assigned_on(row: &Row<'_, 7>, notes: &mut Notes) -> Option<Date> {
    let text = non_empty(&row.cells[6])?;
    let parsed = date(text);
    if parsed.is_none() {
        row.warn_detail(notes, 6);
    }
    parsed
}

#[cfg(test)]
mod tests {
    use super::{super::tests::read, *};

    const HEADER: &str = "State\tNPA-NXX\tOCN \tCompany  \tRateCenter\tEffectiveDate\tUse\tAssignDate   \tInitial/Growth\tPooled Code \tIn Service  \tFile Updated 09/04/2026\n";

    fn read_rows(rows: &str) -> (Vec<CodeRow>, String) {
        read(&REPORT, &format!("{HEADER}{rows}"))
    }

    #[test]
    fn mult_placeholder_is_ignored() {
        let (codes, _) = read_rows(
            "AK   \t907-200\t6872\t\"GCI, CORP.\"   \tVALDEZ    \t   \tAS \t02/21/2006   \tI \tN \tYes\n\
             NN\t670-211\tMULT\t\"MULTIPLE OCN LISTING\"\tXXXXXXXXXX\t \tUA \t \t \t \tNo\n",
        );
        let assigned = CodeRow {
            npa_nxx: "907-200".parse().unwrap(),
            country: Country::Us,
            state: Some("AK".parse().unwrap()),
            status: Status::Assigned,
            ocn: Some("6872".parse().unwrap()),
            company: Some("GCI, CORP.".to_owned()),
            rate_center: Some("VALDEZ".to_owned()),
            assigned: Some("2006-02-21".parse().unwrap()),
        };
        let multiple = CodeRow {
            npa_nxx: "670-211".parse().unwrap(),
            state: Some("MP".parse().unwrap()),
            status: Status::Reserved,
            ocn: None,
            company: None,
            rate_center: None,
            assigned: None,
            ..assigned
        };
        assert_eq!(codes, [assigned, multiple]);
    }

    #[test]
    fn unknown_values_foreign_states_and_impossible_area_codes_cause_warnings() {
        let row = |npa_nxx: &str| format!("ON\t{npa_nxx}\t6872\tX\tY\t\tZZ\t\t\t\tNo\n");
        let (codes, notes) = read_rows(&["000-200", "999-200", "907-200"].map(row).concat());
        let [code] = &codes[..] else { panic!("{codes:?}") };
        assert_eq!((code.status, code.state), (Status::Reserved, None));
        for expected in [
            "Use is unknown and is treated as RESERVED",
            "'ZZ' on line 4",
            "State is in another country and is ignored",
            "'ON' on line 4",
            "'000-200' on line 2",
            "rows whose NPA-NXX has an impossible area code\"): 2",
        ] {
            assert!(notes.contains(expected), "{notes}");
        }
        for (npa_nxx, expected) in [
            ("999-200", " has no usable rows"),
            ("907200", ", line 2, column NPA-NXX: '907200' must be exactly NPA-NXX, as in 415-555"),
        ] {
            let text = format!("{HEADER}{}", row(npa_nxx));
            let result = REPORT.read(&mut text.as_bytes(), &mut Notes::default());
            assert_eq!(result.unwrap_err().to_string(), format!("{}{expected}", REPORT.file));
        }
    }
}
