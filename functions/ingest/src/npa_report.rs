//! NANPA's area code database: which area codes are in service, and where.

use shared::records::{AreaCode, Country, State};

use crate::{
    IngestError, Warnings,
    nanpa::state,
    table::{Layout, Row, Table, filled},
};

pub(crate) const FILE: &str = "the NANPA area code database";

/// The US and Canadian area codes in service, their exchanges not counted.
pub(crate) fn parse(text: &str, warnings: &mut Warnings) -> Result<Vec<AreaCode>, IngestError> {
    let columns = ["NPA_ID", "LOCATION", "COUNTRY", "IN_SERVICE"];
    let table = Table::read(FILE, text, Layout::Commas, columns)?;
    table.rows().filter_map(|row| area_code(&row, warnings).transpose()).collect()
}

fn area_code(row: &Row<'_, 4>, warnings: &mut Warnings) -> Result<Option<AreaCode>, IngestError> {
    let [_, location, country, in_service] = row.cells;
    let country = match country.as_str() {
        "US" => Country::Us,
        "CANADA" => Country::Ca,
        _ => return Ok(None),
    };
    let state = filled(location).filter(|&location| location != WHOLE_PLAN).and_then(|location| {
        match country {
            Country::Us => state(FILE, location, warnings),
            Country::Ca => State::named_first_in(country, location),
        }
    });
    let area_code = AreaCode { npa: row.parsed(0)?, state, country, total_exchanges: 0 };
    Ok((in_service == "Y").then_some(area_code))
}

/// The location of area codes without one.
const WHOLE_PLAN: &str = "NANP AREA";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn area_codes_in_service_with_their_first_named_province() {
        let text = "File Date,01/05/2026\r\nNPA_ID,LOCATION,COUNTRY,IN_SERVICE,NOTES\r\n\
                    201,NJ,US,Y,\r\n203,CT,US,N,\r\n670,CNMI,US,Y,\r\n876,JAMAICA,JAMAICA,Y,\r\n\
                    902,NOVA SCOTIA - PRINCE EDWARD ISLAND,CANADA,Y,\r\n\
                    867,NORTHWEST TERRITORIES -YUKON - NUNAVUT,CANADA,Y,\r\n\
                    600,,CANADA,Y,\r\n710,NANP AREA,US,Y,\r\n";
        let mut warnings = Warnings::default();
        let area_codes = parse(text, &mut warnings).unwrap();
        let states: Vec<_> = area_codes
            .iter()
            .map(|code| (code.npa.to_string(), code.state.map_or(String::new(), |s| s.to_string())))
            .collect();
        let expected =
            [("201", "NJ"), ("670", "MP"), ("902", "NS"), ("867", "NT"), ("600", ""), ("710", "")];
        assert_eq!(states, expected.map(|(npa, state)| (npa.to_owned(), state.to_owned())));
        assert_eq!(format!("{warnings:?}"), "Warnings({})");
    }
}
