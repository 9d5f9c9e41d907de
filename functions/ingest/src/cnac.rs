//! CNAC's CO code status report: the exchanges of Canada.

use shared::records::{Country, NpaNxx, Status};

use crate::{
    IngestError, Warnings,
    nanpa::{Code, read_ocn, state},
    table::{Layout, Row, Table, filled},
};

pub(crate) const FILE: &str = "the CNAC code status";

pub(crate) fn parse(text: &str, warnings: &mut Warnings) -> Result<Vec<Code>, IngestError> {
    let columns = ["NPA", "CO Code (NXX)", "Status", "Exchange Area", "Province", "Company", "OCN"];
    let table = Table::read(FILE, text, Layout::Commas, columns)?;
    table.rows().map(|row| code(&row, warnings)).collect()
}

fn code(row: &Row<'_, 7>, warnings: &mut Warnings) -> Result<Code, IngestError> {
    let [_, _, word, exchange_area, province, company, ocn] = row.cells;
    Ok(Code {
        npa_nxx: NpaNxx { npa: row.parsed(0)?, nxx: row.parsed(1)? },
        country: Country::Ca,
        state: state(FILE, province, warnings),
        status: status(word, warnings),
        ocn: filled(ocn).and_then(|text| read_ocn(FILE, text, warnings)),
        company: filled(company).map(str::to_owned),
        rate_center: filled(exchange_area).map(str::to_owned),
    })
}

fn status(word: &str, warnings: &mut Warnings) -> Status {
    match word {
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
        unknown => {
            warnings.add(format!("{FILE}: Status '{unknown}' is not known and taken as RESERVED"));
            Status::Reserved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(rows: &str) -> Vec<Code> {
        let header = "\"NPA\",\"CO Code (NXX)\",\"Status\",\"Pooled\",\"Exchange Area\",\"Province\",\"Company\",\"OCN\",\"Remarks\"\r\n,,,,,,,2025-09-12\r\n";
        parse(&format!("{header}{rows}"), &mut Warnings::default()).unwrap()
    }

    #[test]
    fn an_exchange_in_service() {
        let codes = parsed(
            "204,202,\"In Service\",\"N\",\"Winnipeg\",\"MB\",\"Fibernetics, Corp.\",\"464D\",\r\n",
        );
        let [code] = codes.as_slice() else { panic!("{codes:?}") };
        assert_eq!(code.npa_nxx.to_string(), "204-202");
        assert_eq!(code.company.as_deref(), Some("Fibernetics, Corp."));
        assert_eq!(code.ocn.unwrap().to_string(), "464D");
        assert_eq!((code.status, code.country), (Status::Assigned, Country::Ca));
    }

    #[test]
    fn the_report_from_before_pooling_reads_the_same() {
        let text = "NPA,CO Code (NXX),Status,Exchange Area,Province,Company,OCN,Remarks\n204,211,For Special Use,,,,,Public Information\n";
        let codes = parse(text, &mut Warnings::default()).unwrap();
        assert_eq!((codes[0].status, codes[0].state), (Status::Reserved, None));
    }
}
