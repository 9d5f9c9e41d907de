//! NANPA's area code database: which area codes are in service, and where.

use std::io::Read;

use shared::records::{AreaCode, Country, State};

use super::{Dated, state};
use crate::{
    IngestError,
    report::Notes,
    table::{Column, Form, Layout, Row, filled},
};

pub(crate) const FILE: &str = "the NANPA area code database";

const FORM: Form<4> = Form {
    file: FILE,
    layout: Layout::Commas,
    columns: [
        Column::needed(&["NPA_ID", "NPA"]),
        Column::needed(&["LOCATION"]),
        Column::needed(&["COUNTRY"]),
        Column::needed(&["IN_SERVICE"]),
    ],
    most_rows: 10_000,
};

/// The other countries of the plan as the report writes them, and none at all.
const OTHER_COUNTRIES: [&str; 19] = [
    "",
    "ANGUILLA",
    "ANTIGUA/BARBUDA",
    "BAHAMAS",
    "BARBADOS",
    "BERMUDA",
    "BRITISH VIRGIN ISLANDS",
    "CAYMAN ISLANDS",
    "DOMINICA",
    "DOMINICAN REPUBLIC",
    "GRENADA",
    "JAMAICA",
    "MONTSERRAT",
    "SINT MAARTEN",
    "ST. KITTS & NEVIS",
    "ST. VINCENT & GRENADINES",
    "ST.LUCIA",
    "TRINIDAD & TOBAGO",
    "TURKS & CAICOS ISLANDS",
];

/// The location of area codes without one.
const WHOLE_PLAN: &str = "NANP AREA";

/// The US and Canadian area codes in service, their exchanges not counted.
pub(crate) fn parse(
    reader: &mut dyn Read,
    notes: &mut Notes,
) -> Result<Dated<AreaCode>, IngestError> {
    FORM.collect(reader, notes, area_code)
}

fn area_code(row: &Row<'_, 4>, notes: &mut Notes) -> Result<Option<AreaCode>, IngestError> {
    let npa = row.parsed(0)?;
    let [_, location, country, in_service] = &row.cells;
    if in_service != "Y" {
        notes.skip(format!("{FILE}: area codes not in service"));
        return Ok(None);
    }
    let country = match country.as_ref() {
        "US" => Country::Us,
        "CANADA" => Country::Ca,
        other => {
            if !OTHER_COUNTRIES.contains(&other) {
                row.warn(notes, 2, "is not known and passed over");
            }
            notes.skip(format!("{FILE}: area codes of other countries or of none"));
            return Ok(None);
        }
    };
    let state = filled(location).filter(|&location| location != WHOLE_PLAN).and_then(|location| {
        match country {
            Country::Us => state(row, 1, notes),
            Country::Ca => State::named_first_in(country, location),
        }
    });
    Ok(Some(AreaCode { npa, state, country, total_exchanges: 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn area_codes_in_service_with_their_first_named_province() {
        let text = "File Date,01/05/2026\nNPA_ID,LOCATION,COUNTRY,IN_SERVICE,NOTES\n\
                    201,NJ,US,Y,\n203,CT,US,N,\n670,CNMI,US,Y,\n876,JAMAICA,JAMAICA,Y,\n\
                    902,NOVA SCOTIA - PRINCE EDWARD ISLAND,CANADA,Y,\n\
                    867,NORTHWEST TERRITORIES -YUKON - NUNAVUT,CANADA,Y,\n\
                    600,,CANADA,Y,\n710,NANP AREA,US,Y,\n";
        let mut notes = Notes::default();
        let (area_codes, date) = parse(&mut text.as_bytes(), &mut notes).unwrap();
        assert_eq!(date.unwrap().to_string(), "2026-01-05");
        let states: Vec<_> = area_codes
            .iter()
            .map(|code| (code.npa.to_string(), code.state.map_or(String::new(), |s| s.to_string())))
            .collect();
        let expected =
            [("201", "NJ"), ("670", "MP"), ("902", "NS"), ("867", "NT"), ("600", ""), ("710", "")];
        assert_eq!(states, expected.map(|(npa, state)| (npa.to_owned(), state.to_owned())));
        let skipped = notes.skipped().values().sum::<u32>();
        assert_eq!((skipped, notes.warnings().len()), (2, 0));
    }
}
