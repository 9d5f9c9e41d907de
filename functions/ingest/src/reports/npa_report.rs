//! NANPA's area code database: which area codes are in service, and where.

use std::io::Read;

use numbering::records::{Country, Npa, StateCode};

use super::{Dated, is_in_plan, state};
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

/// The other countries of the plan as the report writes them.
const OTHER_COUNTRIES: [&str; 18] = [
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

/// What the report says of one area code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub npa: Npa,
    pub home: Home,
    pub in_service: bool,
    /// Where it lies, in the order of the report.
    pub states: Vec<StateCode>,
}

/// Whose area code it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    Of(Country),
    /// Of a country whose exchanges are in no report.
    Elsewhere,
    Unstated,
}

impl Entry {
    /// The country of which it is an area code in service.
    pub(crate) fn country_in_service(&self) -> Option<Country> {
        match self.home {
            Home::Of(country) if self.in_service => Some(country),
            _ => None,
        }
    }
}

/// Every area code of the report; those that are not in service, or not in the US or Canada, are
/// counted as passed over, since they become no record.
pub(crate) fn parse(reader: &mut dyn Read, notes: &mut Notes) -> Result<Dated<Entry>, IngestError> {
    let (entries, date) = FORM.collect(reader, notes, entry)?;
    if !entries.iter().any(|entry| entry.country_in_service().is_some()) {
        return Err(IngestError::Unusable { file: FILE });
    }
    Ok((entries, date))
}

fn entry(row: &Row<'_, 4>, notes: &mut Notes) -> Result<Option<Entry>, IngestError> {
    let npa = row.parsed(0)?;
    let [_, _, country, in_service] = &row.cells;
    let home = match country.as_ref() {
        "US" => Home::Of(Country::Us),
        "CANADA" => Home::Of(Country::Ca),
        "" => Home::Unstated,
        other => {
            if !OTHER_COUNTRIES.contains(&other) {
                row.warn(notes, 2, "is not known and passed over");
            }
            Home::Elsewhere
        }
    };
    let is_in_service = in_service == "Y";
    let country = match home {
        _ if !is_in_service => {
            notes.skip(format!("{FILE}: area codes not in service"));
            None
        }
        Home::Of(country) => Some(country),
        Home::Elsewhere | Home::Unstated => {
            notes.skip(format!("{FILE}: area codes of other countries or of none"));
            None
        }
    };
    if country.is_some() && !is_in_plan(row, 0, npa, notes) {
        return Ok(None);
    }
    let states = country.map(|country| states(row, country, notes)).unwrap_or_default();
    Ok(Some(Entry { npa, home, in_service: is_in_service, states }))
}

fn states(row: &Row<'_, 4>, country: Country, notes: &mut Notes) -> Vec<StateCode> {
    let Some(location) = filled(&row.cells[1]).filter(|&location| location != WHOLE_PLAN) else {
        return Vec::new();
    };
    match country {
        Country::Us => state(row, 1, Some(country), notes).into_iter().collect(),
        Country::Ca => {
            let provinces = StateCode::provinces_named_in(location);
            if provinces.is_empty() {
                row.warn(notes, 1, "names no province and is left out");
            }
            provinces
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(rows: &str) -> (Vec<Entry>, Notes) {
        let text =
            format!("File Date,01/05/2026\nNPA_ID,LOCATION,COUNTRY,IN_SERVICE,NOTES\n{rows}");
        let mut notes = Notes::default();
        let (entries, date) = parse(&mut text.as_bytes(), &mut notes).unwrap();
        assert_eq!(date.unwrap().to_string(), "2026-01-05");
        (entries, notes)
    }

    #[test]
    fn area_codes_in_service_with_every_province_they_name() {
        let (entries, notes) = parsed(
            "201,NJ,US,Y,\n203,CT,US,N,\n670,CNMI,US,Y,\n876,JAMAICA,JAMAICA,Y,\n\
             902,NOVA SCOTIA - PRINCE EDWARD ISLAND,CANADA,Y,\n\
             867,NORTHWEST TERRITORIES -YUKON - NUNAVUT,CANADA,Y,\n\
             600,,CANADA,Y,\n710,NANP AREA,US,Y,\n",
        );
        let in_service = entries.iter().filter(|entry| entry.country_in_service().is_some());
        let states =
            |entry: &Entry| entry.states.iter().map(StateCode::to_string).collect::<Vec<_>>();
        let states: Vec<_> =
            in_service.map(|entry| (entry.npa.to_string(), states(entry).join(" "))).collect();
        let expected = [
            ("201", "NJ"),
            ("670", "MP"),
            ("902", "NS PE"),
            ("867", "NT YT NU"),
            ("600", ""),
            ("710", ""),
        ];
        assert_eq!(states, expected.map(|(npa, state)| (npa.to_owned(), state.to_owned())));
        let skipped = notes.skipped().values().sum::<u32>();
        assert_eq!((skipped, notes.warnings().len()), (2, 0));
    }

    #[test]
    fn an_area_code_that_the_plan_cannot_have_is_left_out_with_a_warning() {
        let (entries, notes) = parsed("201,NJ,US,Y,\n999,NJ,US,Y,\n");
        assert_eq!(entries.len(), 1);
        assert!(format!("{notes:?}").contains("'999' in line 4"), "{notes:?}");
    }

    #[test]
    fn no_area_code_in_service_is_one_the_plan_cannot_have() {
        let sample = include_str!("../../../../infra/local/sample/npa_report.csv");
        let mut notes = Notes::default();
        let (entries, _) = parse(&mut sample.as_bytes(), &mut notes).unwrap();
        assert_eq!((entries.len(), notes.warnings().len()), (800, 0));
        for entry in entries.iter().filter(|entry| entry.in_service) {
            assert!(entry.npa.can_be_area_code(), "{entry:?}");
        }
    }

    #[test]
    fn a_location_that_names_no_province_is_left_out_with_a_warning() {
        let (entries, notes) = parsed("204,MANITOBBA,CANADA,Y,\n201,ONTARIO,US,Y,\n");
        assert!(entries.iter().all(|entry| entry.states.is_empty()), "{entries:?}");
        let report = format!("{notes:?}");
        assert!(report.contains("'MANITOBBA' in line 3") && report.contains("'ONTARIO'"));
    }
}
