//! CNAC's CO code status report: Canadian exchanges.

use numbering::records::{Country, NpaNxx, Status};

use super::{CodeRow, has_possible_npa, state, status};
use crate::{
    error::ReportError,
    outcome::Notes,
    table::{Column, Report, Row},
};

/// The report. Each row is a code, and is skipped if its area code is impossible.
pub(crate) const REPORT: Report<7, CodeRow> = Report {
    file: "the CNAC code status",
    delimiter: b',',
    columns: [
        Column::required(&["NPA"]),
        Column::required(&["CO Code (NXX)", "NXX", "CO Code"]),
        Column::required(&["Status"]),
        Column::required(&["Exchange Area"]),
        Column::required(&["Province"]),
        Column::required(&["Company", "Company Name"]),
        Column::required(&["OCN"]),
    ],
    unused: &["Pooled", "Remarks"],
    max_rows: 640_000,
    parse_row: code_row,
    is_usable: |codes| !codes.is_empty(),
};

fn code_row(row: &Row<'_, 7>, notes: &mut Notes) -> Result<Option<CodeRow>, ReportError> {
    let npa_nxx = NpaNxx { npa: row.parse(0)?, nxx: row.parse(1)? };
    if !has_possible_npa(row, 0, npa_nxx.npa, notes) {
        return Ok(None);
    }
    Ok(Some(CodeRow {
        npa_nxx,
        country: Country::Ca,
        state: state(row, 4, Some(Country::Ca), notes),
        status: status(row, 2, &STATUSES, notes),
        ocn: row.parse_if_known(6, notes),
        company: row.text(5),
        rate_center: row.text(3),
        assigned: None,
    }))
}

const STATUSES: [(Status, &[&str]); 3] = [
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

#[cfg(test)]
mod tests {
    use super::{super::tests::read, *};

    #[test]
    fn rows_are_read_with_and_without_the_pooled_column() {
        let (codes, _) = read(
            &REPORT,
            "\"NPA\",\"CO Code (NXX)\",\"Status\",\"Pooled\",\"Exchange Area\",\"Province\",\"Company\",\"OCN\",\"Remarks\"\n\
             204,202,\"In Service\",\"N\",\"Winnipeg\",\"MB\",\"Fibernetics, Corp.\",\"464D\",\n",
        );
        let expected = CodeRow {
            npa_nxx: "204-202".parse().unwrap(),
            country: Country::Ca,
            state: Some("MB".parse().unwrap()),
            status: Status::Assigned,
            ocn: Some("464D".parse().unwrap()),
            company: Some("Fibernetics, Corp.".to_owned()),
            rate_center: Some("Winnipeg".to_owned()),
            assigned: None,
        };
        assert_eq!(codes, [expected]);
        let (unpooled, _) = read(
            &REPORT,
            "NPA,CO Code (NXX),Status,Exchange Area,Province,Company,OCN,Remarks\n\
             204,211,For Special Use,,,,,Public Information\n",
        );
        assert_eq!((unpooled[0].status, unpooled[0].state), (Status::Reserved, None));
    }

    #[test]
    fn placeholders_for_rate_centers_and_companies_are_missing() {
        let (codes, _) = read(
            &REPORT,
            "NPA,NXX,Status,Exchange Area,Province,Company,OCN\n\
             514,200,In Service,-,,Bell Canada,8050\n\
             514,201,In Service,Montreal,QC,--,8050\n",
        );
        let named = codes.iter().map(|code| (code.rate_center.as_deref(), code.company.as_deref()));
        let expected = [(None, Some("Bell Canada")), (Some("Montreal"), None)];
        assert_eq!(named.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn impossible_area_codes_foreign_states_and_unknown_statuses_cause_warnings() {
        let (codes, notes) = read(
            &REPORT,
            "NPA,NXX,Status,Exchange Area,Province,Company,OCN\n\
             411,202,In Service,,MB,,\n204,202,Resting,,NY,,\n",
        );
        assert_eq!((codes[0].status, codes[0].state), (Status::Reserved, None));
        for warning in ["'411' on line 2", "'Resting' on line 3", "'NY' on line 3"] {
            assert!(notes.contains(warning), "{notes}");
        }
    }
}
