//! NANPA's report of utilized central office codes: the US exchanges.

use numbering::records::{Country, NpaNxx, Status};

use super::{CodeRow, is_in_plan, state, status};
use crate::{
    error::ReportError,
    outcome::Notes,
    table::{Column, Report, Row, date},
};

/// The report's name in messages.
pub(crate) const FILE: &str = "the NANPA report of utilized codes";

/// The report; a row gives a code if its area code exists in the plan.
pub(crate) const REPORT: Report<7, CodeRow> = Report {
    file: FILE,
    delimiter: b'\t',
    columns: [
        Column::needed(&["State"]),
        Column::needed(&["NPA-NXX"]),
        Column::needed(&["OCN"]),
        Column::needed(&["Company", "Company Name"]),
        Column::needed(&["RateCenter"]),
        Column::needed(&["Use"]),
        Column::optional(&["AssignDate"]),
    ],
    most_rows: 640_000,
    parse_row: code_row,
    is_usable: |codes| !codes.is_empty(),
};

const STATUSES: [(Status, &[&str]); 3] = [
    (Status::Assigned, &["AS"]),
    (Status::Unassigned, &["VC"]),
    (Status::Reserved, &["UA", "PR", "RV"]),
];

/// The OCN column's text for a code that belongs to no single carrier.
const MULTIPLE: &str = "MULT";
/// The company column's text for such a code, and sometimes with a blank OCN.
const MULTIPLE_NAME: &str = "MULTIPLE OCN LISTING";
/// The rate center column's text for codes without a rate center: N11 and 555.
const NO_RATE_CENTER: [&str; 2] = ["XXXXXXXXXX", "DIR ASST"];

fn code_row(row: &Row<'_, 7>, notes: &mut Notes) -> Result<Option<CodeRow>, ReportError> {
    let npa_nxx: NpaNxx = row.parsed(1)?;
    if !is_in_plan(row, 1, npa_nxx.npa, notes) {
        return Ok(None);
    }
    Ok(Some(CodeRow {
        npa_nxx,
        country: Country::Us,
        state: state(row, 0, Some(Country::Us), notes),
        status: status(row, 5, &STATUSES, notes),
        ocn: if row.cells[2] == MULTIPLE { None } else { row.parsed_if_known(2, notes) },
        company: row.text(3).filter(|name| name != MULTIPLE_NAME),
        rate_center: row.text(4).filter(|name| !NO_RATE_CENTER.contains(&name.as_str())),
        assigned: date(&row.cells[6]),
    }))
}

#[cfg(test)]
mod tests {
    use super::{super::tests::read, *};

    const HEADER: &str = "State\tNPA-NXX\tOCN \tCompany  \tRateCenter\tEffectiveDate\tUse\tAssignDate   \tInitial/Growth\tPooled Code \tIn Service  \tFile Updated 09/04/2026\n";

    fn parsed(rows: &str) -> (Vec<CodeRow>, String) {
        read(&REPORT, &format!("{HEADER}{rows}"))
    }

    #[test]
    fn mult_is_not_a_carrier_or_place() {
        let (codes, _) = parsed(
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
    fn every_year_of_the_report_reads_the_same() {
        let columns = "State,NPA-NXX,OCN,Company,RateCenter,EffectiveDate,Use,AssignDate,\
                       Initial/Growth,Pooled Code,In Service";
        let columns: Vec<&str> = columns.split(',').collect();
        let cells = "AK,907-200,6872,GCI,VALDEZ,,AS,02/21/2006,I,N,Yes";
        let cells: Vec<&str> = cells.split(',').collect();
        let year = |count: usize, last: &str| {
            let header = [&columns[..count], &[last]].concat();
            let header = header.join("\t").trim_end().to_owned();
            let row = cells[..header.split('\t').count().min(11)].join("\t");
            let text = format!("{header}\n{row}\n");
            read(&REPORT, &text).0
        };
        let newest = year(11, "File Updated 09/04/2026");
        assert_eq!(newest[0].company.as_deref(), Some("GCI"));
        for (count, last) in [(9, ""), (10, ""), (10, "In Service  File Updated 01/02/2020")] {
            assert_eq!(year(count, last), newest, "{count} columns");
        }
    }

    #[test]
    fn unknown_words_foreign_states_and_impossible_area_codes_are_dropped_with_a_warning() {
        let row = |npa_nxx: &str| format!("ON\t{npa_nxx}\t6872\tX\tY\t\tZZ\t\t\t\tNo\n");
        let (codes, notes) = parsed(&["000-200", "999-200", "907-200"].map(row).concat());
        let [code] = &codes[..] else { panic!("{codes:?}") };
        assert_eq!((code.status, code.state), (Status::Reserved, None));
        for expected in [
            "Use is not known and taken as RESERVED",
            "'ZZ' in line 4",
            "State is in another country than its row and left out",
            "'ON' in line 4",
            "'000-200' in line 2",
            "rows whose NPA-NXX cannot be an area code of the plan\": 2",
        ] {
            assert!(notes.contains(expected), "{notes}");
        }
        for (npa_nxx, expected) in [
            ("999-200", " holds no row that can be imported"),
            ("907200", ", line 2, column NPA-NXX: '907200' must be exactly NPA-NXX, as in 415-555"),
        ] {
            let text = format!("{HEADER}{}", row(npa_nxx));
            let refused = REPORT.read(&mut text.as_bytes(), &mut Notes::default());
            assert_eq!(refused.unwrap_err().to_string(), format!("{FILE}{expected}"));
        }
    }
}
