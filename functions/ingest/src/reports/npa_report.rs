//! NANPA's area code database: which area codes are in service, and where.

use numbering::records::{Country, Npa, StateCode};

use super::{is_in_plan, state};
use crate::{
    error::ReportError,
    outcome::Notes,
    table::{Column, Report, Row},
};

/// The report's name in messages.
pub(crate) const FILE: &str = "the NANPA area code database";

/// The report; area codes without a record are counted as skipped.
pub(crate) const REPORT: Report<4, AreaCodeRow> = Report {
    file: FILE,
    delimiter: b',',
    columns: [
        Column::needed(&["NPA_ID", "NPA"]),
        Column::needed(&["LOCATION"]),
        Column::needed(&["COUNTRY"]),
        Column::needed(&["IN_SERVICE"]),
    ],
    most_rows: 10_000,
    parse_row: area_code_row,
    is_usable: |rows| rows.iter().any(|row| row.country_in_service().is_some()),
};

/// The plan's other countries as the report writes them.
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

/// The location column's text for area codes of the whole plan.
const WHOLE_PLAN: &str = "NANP AREA";

/// One area code in the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AreaCodeRow {
    pub npa: Npa,
    pub country: AreaCodeCountry,
    pub in_service: bool,
    /// Its states or provinces, in report order.
    pub states: Vec<StateCode>,
}

/// The country an area code belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AreaCodeCountry {
    /// A country whose exchanges are in a report.
    Reported(Country),
    /// Another country in the plan, whose exchanges are in no report.
    Other,
    /// The report does not say.
    Unstated,
}

impl AreaCodeRow {
    /// The country of an area code in service, if its exchanges are in a report.
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
            if !OTHER_COUNTRIES.contains(&other) {
                row.warn(notes, 2, "is not known and passed over");
            }
            AreaCodeCountry::Other
        }
    };
    let mut area_code = AreaCodeRow {
        npa: row.parsed(0)?,
        country,
        in_service: in_service == "Y",
        states: Vec::new(),
    };
    if let Some(country) = area_code.country_in_service() {
        if !is_in_plan(row, 0, area_code.npa, notes) {
            return Ok(None);
        }
        area_code.states = states(row, country, notes);
    } else if !area_code.in_service {
        notes.skip(format!("{FILE}: area codes not in service"));
    } else {
        notes.skip(format!("{FILE}: area codes of other countries or of none"));
    }
    Ok(Some(area_code))
}

fn states(row: &Row<'_, 4>, country: Country, notes: &mut Notes) -> Vec<StateCode> {
    let location = row.cells[1].as_ref();
    if location.is_empty() || location == WHOLE_PLAN {
        return Vec::new();
    }
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
    use super::{super::tests::read, *};

    fn parsed(rows: &str) -> (Vec<AreaCodeRow>, String) {
        let header = "File Date,01/05/2026\nNPA_ID,LOCATION,COUNTRY,IN_SERVICE,NOTES\n";
        read(&REPORT, &format!("{header}{rows}"))
    }

    #[test]
    fn area_codes_in_service_have_every_province_they_name() {
        let (area_codes, notes) = parsed(
            "201,NJ,US,Y,\n203,CT,US,N,\n670,CNMI,US,Y,\n876,JAMAICA,JAMAICA,Y,\n\
             902,NOVA SCOTIA - PRINCE EDWARD ISLAND,CANADA,Y,\n\
             867,NORTHWEST TERRITORIES -YUKON - NUNAVUT,CANADA,Y,\n\
             600,,CANADA,Y,\n710,NANP AREA,US,Y,\n",
        );
        let in_service = area_codes.iter().filter(|row| row.country_in_service().is_some());
        let described = in_service.map(|row| {
            let states: Vec<_> = row.states.iter().map(StateCode::to_string).collect();
            format!("{} {}", row.npa, states.join(" "))
        });
        let expected = ["201 NJ", "670 MP", "902 NS PE", "867 NT YT NU", "600 ", "710 "];
        assert_eq!(described.collect::<Vec<_>>(), expected);
        assert!(
            notes.contains("not in service\": 1") && notes.contains("or of none\": 1"),
            "{notes}"
        );
        assert!(notes.contains("warnings: {}"), "{notes}");
    }

    #[test]
    fn sample_has_every_area_code_without_a_warning() {
        let sample = include_str!("../../../../infra/local/sample/npa_report.csv");
        let (area_codes, notes) = read(&REPORT, sample);
        assert_eq!(area_codes.len(), 800);
        assert!(notes.contains("warnings: {}"), "{notes}");
    }

    #[test]
    fn impossible_area_codes_and_unknown_locations_warn() {
        let (area_codes, notes) =
            parsed("999,NJ,US,Y,\n204,MANITOBBA,CANADA,Y,\n201,ONTARIO,US,Y,\n");
        assert_eq!(area_codes.len(), 2);
        assert!(area_codes.iter().all(|area_code| area_code.states.is_empty()), "{area_codes:?}");
        for warning in ["'999' in line 3", "'MANITOBBA' in line 4", "'ONTARIO' in line 5"] {
            assert!(notes.contains(warning), "{notes}");
        }
    }
}
