//! NANPA's report of utilized central office codes: the exchanges of the US.

use std::io::Read;

use numbering::records::{Country, NpaNxx, Status};

use super::{CodeRow, Dated, is_in_plan, state};
use crate::{
    error::ReportError,
    outcome::Notes,
    table::{Column, Dialect, ReportSchema, Row, date, non_empty},
};

/// What messages call the report.
pub(crate) const FILE: &str = "the NANPA report of utilized codes";

const SCHEMA: ReportSchema<7> = ReportSchema {
    file: FILE,
    dialect: Dialect::Tabs,
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
};

/// The text in the OCN column if a code belongs to no single carrier.
const MULTIPLE: &str = "MULT";
/// The text in the company column then, and sometimes beside a blank OCN.
const MULTIPLE_NAME: &str = "MULTIPLE OCN LISTING";
/// The texts in the rate center column of codes that have no rate center: N11 and 555.
const NO_RATE_CENTER: [&str; 2] = ["XXXXXXXXXX", "DIR ASST"];

/// Reads the report: one code for each row whose area code the plan can have.
pub(crate) fn parse(
    reader: &mut dyn Read,
    notes: &mut Notes,
) -> Result<Dated<CodeRow>, ReportError> {
    SCHEMA.collect(reader, notes, code_row)
}

fn code_row(row: &Row<'_, 7>, notes: &mut Notes) -> Result<Option<CodeRow>, ReportError> {
    let npa_nxx: NpaNxx = row.parsed(1)?;
    if !is_in_plan(row, 1, npa_nxx.npa, notes) {
        return Ok(None);
    }
    let [_, _, ocn, company, rate_center, _, assigned] = &row.cells;
    let is_place = |name: &&str| !NO_RATE_CENTER.contains(name);
    Ok(Some(CodeRow {
        npa_nxx,
        country: Country::Us,
        state: state(row, 0, Some(Country::Us), notes),
        status: status(row, notes),
        ocn: if ocn == MULTIPLE { None } else { row.parsed_if_known(2, notes) },
        company: non_empty(company).filter(|name| *name != MULTIPLE_NAME).map(str::to_owned),
        rate_center: non_empty(rate_center).filter(is_place).map(str::to_owned),
        assigned: date(assigned),
    }))
}

fn status(row: &Row<'_, 7>, notes: &mut Notes) -> Status {
    match row.cells[5].as_ref() {
        "AS" => Status::Assigned,
        "VC" => Status::Unassigned,
        "UA" | "PR" | "RV" => Status::Reserved,
        _ => {
            row.warn(notes, 5, "is not known and taken as RESERVED");
            Status::Reserved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "State\tNPA-NXX\tOCN \tCompany  \tRateCenter\tEffectiveDate\tUse\tAssignDate   \tInitial/Growth\tPooled Code \tIn Service  \tFile Updated 09/04/2026\n";

    fn parsed(row: &str) -> (CodeRow, Notes) {
        let mut notes = Notes::default();
        let text = format!("{HEADER}{row}");
        let (codes, date) = parse(&mut text.as_bytes(), &mut notes).unwrap();
        assert_eq!(date.unwrap().to_string(), "2026-09-04");
        (codes[0].clone(), notes)
    }

    #[test]
    fn an_assigned_code() {
        let row = "AK   \t907-200\t6872\t\"GCI, CORP.\"   \tVALDEZ    \t   \tAS \t02/21/2006   \tI \tN \tYes\n";
        let (code, _) = parsed(row);
        assert_eq!(code.npa_nxx.to_string(), "907-200");
        assert_eq!(code.ocn.unwrap().to_string(), "6872");
        assert_eq!(code.company.as_deref(), Some("GCI, CORP."));
        assert_eq!(code.rate_center.as_deref(), Some("VALDEZ"));
        assert_eq!(code.state.unwrap().to_string(), "AK");
        assert_eq!(code.assigned.unwrap().to_string(), "2006-02-21");
        assert_eq!(code.status, Status::Assigned);
    }

    #[test]
    fn every_year_of_the_report_reads_the_same() {
        let columns = [
            "State",
            "NPA-NXX",
            "OCN",
            "Company",
            "RateCenter",
            "EffectiveDate",
            "Use",
            "AssignDate",
            "Initial/Growth",
            "Pooled Code",
            "In Service",
        ];
        let cells =
            ["AK", "907-200", "6872", "GCI", "VALDEZ", "", "AS", "02/21/2006", "I", "N", "Yes"];
        let year = |count: usize, last: &str| {
            let header = [&columns[..count], &[last]].concat();
            let header = header.join("\t").trim_end().to_owned();
            let text =
                format!("{header}\n{}\n", cells[..header.split('\t').count().min(11)].join("\t"));
            parse(&mut text.as_bytes(), &mut Notes::default()).unwrap().0
        };
        let newest = year(11, "File Updated 09/04/2026");
        assert_eq!(newest[0].company.as_deref(), Some("GCI"));
        for (count, last) in [(9, ""), (10, ""), (10, "In Service  File Updated 01/02/2020")] {
            assert_eq!(year(count, last), newest, "{count} columns");
        }
    }

    #[test]
    fn mult_is_no_carrier_and_its_rate_center_no_place() {
        let row = "NN\t670-211\tMULT\t\"MULTIPLE OCN LISTING\"\tXXXXXXXXXX\t \tUA \t \t \t \tNo\n";
        let (code, _) = parsed(row);
        assert_eq!((code.ocn, code.company, code.rate_center), (None, None, None));
        assert_eq!(code.state.unwrap().to_string(), "MP");
        assert_eq!(code.status, Status::Reserved);
    }

    #[test]
    fn an_unknown_use_is_reserved_with_a_warning() {
        let (code, notes) = parsed("AK\t907-200\t6872\tX\tY\t\tZZ\t\t\t\tNo\n");
        assert_eq!(code.status, Status::Reserved);
        let report = format!("{notes:?}");
        assert!(
            report.contains("Use is not known and taken as RESERVED")
                && report.contains("'ZZ' in line 2"),
            "{report}"
        );
    }

    #[test]
    fn a_canadian_state_is_left_out_of_a_us_row_with_a_warning() {
        let (code, notes) = parsed("ON\t907-200\t6872\tX\tY\t\tAS\t\t\t\tNo\n");
        assert_eq!((code.state, code.country), (None, Country::Us));
        let report = format!("{notes:?}");
        let warning = "State is in another country than its row and left out";
        assert!(report.contains(warning) && report.contains("'ON' in line 2"), "{report}");
    }

    #[test]
    fn a_row_whose_area_code_the_plan_cannot_have_is_left_out_and_counted() {
        let row = |npa_nxx: &str| format!("AK\t{npa_nxx}\t6872\tX\tY\t\tAS\t\t\t\tNo\n");
        let rows = ["000-200", "111-200", "999-200", "907-200"].map(row).concat();
        let mut notes = Notes::default();
        let text = format!("{HEADER}{rows}");
        let (codes, _) = parse(&mut text.as_bytes(), &mut notes).unwrap();
        assert_eq!(codes.len(), 1);
        let [warning] = notes.warnings().values().collect::<Vec<_>>()[..] else { panic!() };
        assert_eq!((warning.count, warning.examples[2].as_str()), (3, "'999-200' in line 4"));
        assert_eq!(notes.skipped().values().sum::<u32>(), 3);
    }

    #[test]
    fn a_report_without_a_row_that_can_be_imported_is_refused() {
        let text = format!("{HEADER}AK\t999-200\t6872\tX\tY\t\tAS\t\t\t\tNo\n");
        let error = parse(&mut text.as_bytes(), &mut Notes::default()).unwrap_err().to_string();
        assert_eq!(error, "the NANPA report of utilized codes holds no row that can be imported");
    }

    #[test]
    fn a_wrong_code_is_refused_with_its_place() {
        let text = format!("{HEADER}AK\t907200\t6872\tX\tY\t\tAS\t\t\t\tNo\n");
        let error = parse(&mut text.as_bytes(), &mut Notes::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the NANPA report of utilized codes, line 2, column NPA-NXX: '907200' must be exactly NPA-NXX, as in 415-555"
        );
    }
}
