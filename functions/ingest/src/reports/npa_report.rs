//! NANPA's area code database: the area codes in service and their locations.

use itertools::Itertools;
use numbering::records::{Country, Npa, StateCode};

use super::{has_possible_npa, state};
use crate::{
    error::ReportError,
    outcome::Notes,
    table::{Column, Report, Row},
};

/// The report. Area codes that do not become records are counted as skipped.
pub(crate) const REPORT: Report<4, AreaCodeRow> = Report {
    file: "the NANPA area code database",
    delimiter: b',',
    columns: [
        Column::required(&["NPA_ID", "NPA"]),
        Column::required(&["LOCATION"]),
        Column::required(&["COUNTRY"]),
        Column::required(&["IN_SERVICE"]),
    ],
    max_rows: 10_000,
    parse_row: area_code_row,
    is_usable: |rows| rows.iter().any(|row| row.country_in_service().is_some()),
};

/// The other NANP countries, as spelled in the report.
const OTHER_COUNTRIES: &str = "ANGUILLA, ANTIGUA/BARBUDA, BAHAMAS, BARBADOS, BERMUDA, BRITISH VIRGIN ISLANDS, \
    CAYMAN ISLANDS, DOMINICA, DOMINICAN REPUBLIC, GRENADA, JAMAICA, MONTSERRAT, \
    SINT MAARTEN, ST. KITTS & NEVIS, ST. VINCENT & GRENADINES, ST.LUCIA, TRINIDAD & TOBAGO, \
    TURKS & CAICOS ISLANDS";

/// The location column's text for area codes without a location.
const NANP_AREA: &str = "NANP AREA";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AreaCodeRow {
    pub npa: Npa,
    pub country: AreaCodeCountry,
    pub in_service: bool,
    pub states: Vec<StateCode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AreaCodeCountry {
    /// The US or Canada, whose exchanges are in reports.
    Reported(Country),
    /// Another NANP country, whose exchanges are not in any report.
    Other,
    Unstated,
}

impl AreaCodeRow {
    /// The area code's country, if it is in service and its exchanges are in reports.
    pub(crate) fn country_in_service(&self) -> Option<Country> {
        match self.country {
            AreaCodeCountry::Reported(country) if self.in_service => Some(country),
            _ => None,
        }
    }
}

fn area_code_row(row: &Row<'_, 4>, notes: &mut Notes) -> Result<Option<AreaCodeRow>, ReportError> {
    let [_, _, country_name, in_service] = &row.cells;
    let country = match country_name.as_ref() {
        "US" => AreaCodeCountry::Reported(Country::Us),
        "CANADA" => AreaCodeCountry::Reported(Country::Ca),
        "" => AreaCodeCountry::Unstated,
        other => {
            if !OTHER_COUNTRIES.split(", ").contains(&other) {
                row.warn(notes, 2, "is unknown, so the area code is skipped");
            }
            AreaCodeCountry::Other
        }
    };
    let mut area_code = AreaCodeRow {
        npa: row.parse(0)?,
        country,
        in_service: in_service == "Y",
        states: Vec::new(),
    };
    if let Some(country) = area_code.country_in_service() {
        if !has_possible_npa(row, 0, area_code.npa, notes) {
            return Ok(None);
        }
        area_code.states = states(row, country, notes);
    } else {
        let kind = if area_code.in_service {
            "in other countries or without a country"
        } else {
            "not in service"
        };
        notes.skip(format!("{}: area codes {kind}", REPORT.file));
    }
    Ok(Some(area_code))
}

fn states(row: &Row<'_, 4>, country: Country, notes: &mut Notes) -> Vec<StateCode> {
    let location = row.cells[1].as_ref();
    if location.is_empty() || location == NANP_AREA {
        return Vec::new();
    }
    match country {
        Country::Us => state(row, 1, Some(country), notes).into_iter().collect(),
        Country::Ca => {
            let provinces = StateCode::provinces_named_in(location);
            if provinces.is_empty() {
                row.warn(notes, 1, "does not name a province and is ignored");
            }
            provinces
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::read, *};

    fn read_rows(rows: &str) -> (Vec<AreaCodeRow>, String) {
        let header = "File Date,01/05/2026\nNPA_ID,LOCATION,COUNTRY,IN_SERVICE,NOTES\n";
        read(&REPORT, &format!("{header}{rows}"))
    }

    #[test]
    fn area_codes_in_service_have_all_provinces_in_their_location() {
        let (area_codes, notes) = read_rows(
            "201,NJ,US,Y,\n203,CT,US,N,\n670,CNMI,US,Y,\n876,JAMAICA,JAMAICA,Y,\n\
             902,NOVA SCOTIA - PRINCE EDWARD ISLAND,CANADA,Y,\n\
             867,NORTHWEST TERRITORIES -YUKON - NUNAVUT,CANADA,Y,\n\
             600,,CANADA,Y,\n710,NANP AREA,US,Y,\n",
        );
        let in_service = area_codes.iter().filter(|row| row.country_in_service().is_some());
        let summaries = in_service.map(|row| {
            let states: Vec<_> = row.states.iter().map(StateCode::to_string).collect();
            format!("{} {}", row.npa, states.join(" "))
        });
        let expected = ["201 NJ", "670 MP", "902 NS PE", "867 NT YT NU", "600 ", "710 "];
        assert_eq!(summaries.collect::<Vec<_>>(), expected);
        assert!(
            notes.contains("not in service\": 1") && notes.contains("without a country\": 1"),
            "{notes}"
        );
        assert!(notes.contains("warnings: {}"), "{notes}");
    }

    #[test]
    fn sample_contains_all_area_codes_and_causes_no_warnings() {
        let sample = include_str!("../../../../infra/local/sample/npa_report.csv");
        let (area_codes, notes) = read(&REPORT, sample);
        assert_eq!(area_codes.len(), 800);
        assert!(notes.contains("warnings: {}"), "{notes}");
    }

    #[test]
    fn impossible_area_codes_and_unknown_locations_cause_warnings() {
        let (area_codes, notes) =
            read_rows("999,NJ,US,Y,\n204,MANITOBBA,CANADA,Y,\n201,ONTARIO,US,Y,\n");
        assert_eq!(area_codes.len(), 2);
        assert!(area_codes.iter().all(|area_code| area_code.states.is_empty()), "{area_codes:?}");
        for warning in ["'999' on line 3", "'MANITOBBA' on line 4", "'ONTARIO' on line 5"] {
            assert!(notes.contains(warning), "{notes}");
        }
    }
}
