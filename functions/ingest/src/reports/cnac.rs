//! CNAC's CO code status report: the exchanges of Canada.

use std::io::Read;

use numbering::records::{Country, NpaNxx, Status};

use super::{CodeRow, Dated, is_in_plan, state};
use crate::{
    error::ReportError,
    outcome::Notes,
    table::{Column, Dialect, ReportSchema, Row, non_empty},
};

/// What messages call the report.
pub(crate) const FILE: &str = "the CNAC code status";

const SCHEMA: ReportSchema<7> = ReportSchema {
    file: FILE,
    dialect: Dialect::Commas,
    columns: [
        Column::needed(&["NPA"]),
        Column::needed(&["CO Code (NXX)", "NXX", "CO Code"]),
        Column::needed(&["Status"]),
        Column::needed(&["Exchange Area"]),
        Column::needed(&["Province"]),
        Column::needed(&["Company", "Company Name"]),
        Column::needed(&["OCN"]),
    ],
    most_rows: 640_000,
};

/// Reads the report: one code for each row whose area code the plan can have.
pub(crate) fn parse(
    reader: &mut dyn Read,
    notes: &mut Notes,
) -> Result<Dated<CodeRow>, ReportError> {
    SCHEMA.collect(reader, notes, code_row)
}

fn code_row(row: &Row<'_, 7>, notes: &mut Notes) -> Result<Option<CodeRow>, ReportError> {
    let npa_nxx = NpaNxx { npa: row.parsed(0)?, nxx: row.parsed(1)? };
    if !is_in_plan(row, 0, npa_nxx.npa, notes) {
        return Ok(None);
    }
    let [_, _, _, exchange_area, _, company, _] = &row.cells;
    Ok(Some(CodeRow {
        npa_nxx,
        country: Country::Ca,
        state: state(row, 4, Some(Country::Ca), notes),
        status: status(row, notes),
        ocn: row.parsed_if_known(6, notes),
        company: non_empty(company).map(str::to_owned),
        rate_center: non_empty(exchange_area).map(str::to_owned),
        assigned: None,
    }))
}

fn status(row: &Row<'_, 7>, notes: &mut Notes) -> Status {
    match row.cells[2].as_ref() {
        "In Service" | "Assigned" | "Being Recovered" => Status::Assigned,
        "Available" | "New NPA" | "Recovered/Aging" => Status::Unassigned,
        "For Special Use"
        | "Not Available"
        | "Moratorium on Assignment"
        | "Plant Test"
        | "TBP Test Code"
        | "Stranded Code"
        | "Protected"
        | "New Entrants Reserved"
        | "Temporarily Unavailable"
        | "New NPA Testing" => Status::Reserved,
        _ => {
            row.warn(notes, 2, "is not known and taken as RESERVED");
            Status::Reserved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "\"NPA\",\"CO Code (NXX)\",\"Status\",\"Pooled\",\"Exchange Area\",\"Province\",\"Company\",\"OCN\",\"Remarks\"\n,,,,,,,2025-09-12\n";

    #[test]
    fn an_exchange_in_service() {
        let text = format!(
            "{HEADER}204,202,\"In Service\",\"N\",\"Winnipeg\",\"MB\",\"Fibernetics, Corp.\",\"464D\",\n"
        );
        let (codes, date) = parse(&mut text.as_bytes(), &mut Notes::default()).unwrap();
        let [code] = codes.as_slice() else { panic!("{codes:?}") };
        assert_eq!(date.unwrap().to_string(), "2025-09-12");
        assert_eq!(code.npa_nxx.to_string(), "204-202");
        assert_eq!(code.company.as_deref(), Some("Fibernetics, Corp."));
        assert_eq!(code.ocn.unwrap().to_string(), "464D");
        assert_eq!((code.status, code.country), (Status::Assigned, Country::Ca));
    }

    #[test]
    fn the_report_from_before_pooling_reads_the_same() {
        let text = "NPA,CO Code (NXX),Status,Exchange Area,Province,Company,OCN,Remarks\n204,211,For Special Use,,,,,Public Information\n";
        let (codes, _) = parse(&mut text.as_bytes(), &mut Notes::default()).unwrap();
        assert_eq!((codes[0].status, codes[0].state), (Status::Reserved, None));
    }

    #[test]
    fn a_us_state_is_left_out_of_a_canadian_row_with_a_warning() {
        let text = format!("{HEADER}204,202,In Service,N,,NY,,,\n");
        let mut notes = Notes::default();
        let (codes, _) = parse(&mut text.as_bytes(), &mut notes).unwrap();
        assert_eq!((codes[0].state, codes[0].country), (None, Country::Ca));
        let report = format!("{notes:?}");
        let warning = "Province is in another country than its row and left out";
        assert!(report.contains(warning) && report.contains("'NY' in line 3"), "{report}");
    }

    #[test]
    fn a_row_whose_area_code_the_plan_cannot_have_is_left_out() {
        let row = |npa: &str| format!("{npa},202,In Service,N,,MB,,,\n");
        let text = format!("{HEADER}{}{}{}", row("011"), row("204"), row("411"));
        let mut notes = Notes::default();
        let (codes, _) = parse(&mut text.as_bytes(), &mut notes).unwrap();
        assert_eq!((codes.len(), notes.skipped().values().sum::<u32>()), (1, 2));
    }

    #[test]
    fn a_status_never_seen_is_reserved_with_a_warning() {
        let text = format!("{HEADER}204,202,Resting,N,,MB,,,\n");
        let mut notes = Notes::default();
        let (codes, _) = parse(&mut text.as_bytes(), &mut notes).unwrap();
        assert_eq!(codes[0].status, Status::Reserved);
        assert!(format!("{notes:?}").contains("'Resting' in line 3"), "{notes:?}");
    }
}
