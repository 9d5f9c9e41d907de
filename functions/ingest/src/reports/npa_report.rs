//! NANPA's area code database: assigned area codes, their locations and numbering plan data.

use std::collections::BTreeSet;

use jiff::civil::Date;
use numbering::records::{
    AreaCodeService, Country, DialingPlan, Npa, NumberingPlan, ReliefPlanning, StateCode,
};

use store::ReportName;

use super::{Report, has_possible_npa, state};
use crate::{
    error::ReportError,
    notes::Notes,
    table::{Format, Row, non_empty},
};

/// The report format. Only assigned area codes become records. The rest are counted as skipped.
pub(super) const REPORT: Report = Report {
    format: Format {
        name: ReportName::NpaReport,
        file: "the NANPA area code database",
        delimiter: b',',
        columns: "NPA_ID|NPA, LOCATION, COUNTRY, IN_SERVICE, ASSIGNED?, ASSIGNMENT_DT?, \
                  IN_SERVICE_DT?, SERVICE?, PARENT_NPA_ID?, OVERLAY_COMPLEX?, \
                  HOME_NPA_LOCAL_CALLS?, HOME_NPA_TOLL_CALLS?, FOREIGN_NPA_LOCAL_CALLS?, \
                  FOREIGN_NPA_TOLL_CALLS?, DIALING_PLAN_NOTES?, IN_JEOPARDY?, \
                  RELIEF_PLANNING_IN_PROGRESS?, STATUS?, PLANNING_LETTERS?, NOTES?, \
                  TIME_ZONE?",
        unused: "type_of_code, ASSIGNABLE, EXPLANATION, RESERVED, USE, OVERLAY, \
                 AREA_SERVED, MAP, PERM_HNPA_LOCAL_CALLS, PERM_HNPA_TOLL_CALLS, \
                 PERM_HNPA_FOREIGN_LOCAL_CALLS",
        max_rows: 10_000,
    },
    published_at: Some("https://reports.nanpa.com/public/npa_report.csv"),
    is_required: true,
    keeps_blocks_in: None,
    parse_row: |row, rows, notes| {
        rows.area_codes.extend(area_code_row(row, notes)?);
        Ok(())
    },
    figures: |dataset, _| {
        let in_service = dataset.area_codes().filter(|it| it.plan.is_in_service).count();
        vec![("records", dataset.area_codes().len() as f64), ("in_service", in_service as f64)]
    },
};

/// The NANP countries, as spelled in the report, with their ISO 3166-1 codes.
const COUNTRIES: [(&str, &str); 20] = [
    ("US", "US"),
    ("CANADA", "CA"),
    ("ANGUILLA", "AI"),
    ("ANTIGUA/BARBUDA", "AG"),
    ("BAHAMAS", "BS"),
    ("BARBADOS", "BB"),
    ("BERMUDA", "BM"),
    ("BRITISH VIRGIN ISLANDS", "VG"),
    ("CAYMAN ISLANDS", "KY"),
    ("DOMINICA", "DM"),
    ("DOMINICAN REPUBLIC", "DO"),
    ("GRENADA", "GD"),
    ("JAMAICA", "JM"),
    ("MONTSERRAT", "MS"),
    ("SINT MAARTEN", "SX"),
    ("ST. KITTS & NEVIS", "KN"),
    ("ST. VINCENT & GRENADINES", "VC"),
    ("ST.LUCIA", "LC"),
    ("TRINIDAD & TOBAGO", "TT"),
    ("TURKS & CAICOS ISLANDS", "TC"),
];

/// The service column's words. It is empty for geographic codes.
const SERVICES: [(&str, AreaCodeService); 8] = [
    ("", AreaCodeService::Geographic),
    ("Toll-Free", AreaCodeService::TollFree),
    ("Premium Services", AreaCodeService::Premium),
    ("Non-Geographic Services", AreaCodeService::NonGeographic),
    ("Canadian Non-Geographic Services", AreaCodeService::NonGeographic),
    ("Canadian Non-Geographic Tariffed Services", AreaCodeService::NonGeographic),
    ("Interexchange Carrier Services", AreaCodeService::InterexchangeCarrier),
    ("US Government", AreaCodeService::UsGovernment),
];

/// The words in columns with a small vocabulary. The flag is `true` if the column only adds details. Unknown words are
/// treated like the last one. Time zones are parsed by letter.
const WORDS: [(usize, &str, bool); 5] = [
    (3, "Y,N", false),
    (4, "Yes,No,", false),
    (15, "Yes,No,", true),
    (16, "Yes,No,", true),
    (20, TIME_ZONES, true),
];

/// The known time zones, separated by commas. The first one is blank.
const TIME_ZONES: &str =
    ",E,C,P,M,A,N,AK,EC,CM,MP,CMP,PT/MT only for W Wendover,(UTC+10),(UTC-10),UTC-11";

/// The location column's text for area codes without a location.
const NANP_AREA: &str = "NANP AREA";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AreaCodeRow {
    pub npa: Npa,
    /// The country as an ISO 3166-1 code, or as an unknown name from the report; empty if unset.
    pub country: String,
    pub states: Vec<StateCode>,
    /// `false` if the code is neither in service nor assigned.
    pub is_assigned: bool,
    /// Lists of codes that serve the same area. May lack later codes; see [`crate::assemble`].
    pub overlays: Vec<BTreeSet<Npa>>,
    /// The numbering plan data, without `overlay`.
    pub plan: NumberingPlan,
}

impl AreaCodeRow {
    /// The US or Canada, if the area code belongs to either.
    pub(crate) fn reported_country(&self) -> Option<Country> {
        self.country.parse().ok()
    }

    /// Returns `true` if the code is in service and its exchanges are in reports.
    pub(crate) fn has_exchanges(&self) -> bool {
        self.plan.is_in_service && self.reported_country().is_some()
    }
}

fn area_code_row(row: &Row<'_>, notes: &mut Notes) -> Result<Option<AreaCodeRow>, ReportError> {
    let country = COUNTRIES.iter().find(|(name, _)| *name == row.cells[2]);
    if country.is_none() && !row.cells[2].is_empty() {
        row.warn(notes, 2, "is unknown and is ignored");
    }
    for (column, words, is_detail) in WORDS {
        let is_known = words.split(',').any(|word| word.eq_ignore_ascii_case(&row.cells[column]));
        match (is_known, is_detail) {
            (true, _) => (),
            (false, true) => row.warn_detail(notes, column),
            (false, false) => row.warn(notes, column, "is unknown"),
        }
    }
    let is_in_service = row.cells[3].eq_ignore_ascii_case("y");
    let plan_country = country.map(|&(_, code)| code.to_owned());
    let mut area_code = AreaCodeRow {
        npa: row.parse(0)?,
        country: plan_country.clone().unwrap_or_else(|| row.cells[2].to_string()),
        states: Vec::new(),
        is_assigned: is_in_service || is_yes(row, 4),
        overlays: Vec::new(),
        plan: NumberingPlan { plan_country, is_in_service, ..NumberingPlan::default() },
    };
    if !area_code.is_assigned {
        notes.skip(REPORT.format.name, "area codes not assigned");
        return Ok(Some(area_code));
    }
    if !has_possible_npa(row, 0, area_code.npa, notes) {
        return Ok(None);
    }
    if let Some(country) = area_code.reported_country() {
        area_code.states = states(row, country, notes);
    }
    let service = SERVICES.iter().find(|(name, _)| name.eq_ignore_ascii_case(&row.cells[7]));
    if service.is_none() {
        row.warn(notes, 7, "is unknown and is treated as non-geographic");
    }
    area_code.overlays = overlays(row, 9, notes);
    area_code.plan = NumberingPlan {
        service: service.map_or(AreaCodeService::NonGeographic, |&(_, service)| service),
        assigned_on: date_cell(row, 5, notes),
        in_service_on: date_cell(row, 6, notes),
        parent: row.parse_if_known(8, notes),
        dialing: DialingPlan {
            home_local: dialing_cell(row, 10),
            home_toll: dialing_cell(row, 11),
            foreign_local: dialing_cell(row, 12),
            foreign_toll: dialing_cell(row, 13),
            notes: row.text(14),
        },
        relief: ReliefPlanning {
            is_in_jeopardy: is_yes(row, 15),
            is_in_progress: is_yes(row, 16),
            status: row.text(17),
            planning_letters: row.cells[18].split_whitespace().map(str::to_owned).collect(),
        },
        notes: row.text(19),
        has_several_time_zones: has_several_time_zones(&row.cells[20]),
        ..area_code.plan
    };
    Ok(Some(area_code))
}

/// Returns `true` for several zone letters, as in `EC` or `PT/MT only for W Wendover`, but not for `(UTC-10)`.
fn has_several_time_zones(text: &str) -> bool {
    let text = text.to_uppercase();
    let letters = text.chars().filter(|letter| "ECMPAN".contains(*letter)).count();
    letters > 1 && !text.contains("UTC")
}

fn is_yes(row: &Row<'_>, column: usize) -> bool {
    row.cells[column].eq_ignore_ascii_case("yes")
}

/// The digits to dial; `None` if the report says `NA`.
fn dialing_cell(row: &Row<'_>, column: usize) -> Option<String> {
    row.text(column).filter(|text| text != "NA")
}

/// Parses `01-Jan-1947`, or `01-JAN-47` in older files.
fn date_cell(row: &Row<'_>, column: usize, notes: &mut Notes) -> Option<Date> {
    let text = non_empty(&row.cells[column])?;
    let format = if text.len() > "01-JAN-47".len() { "%d-%b-%Y" } else { "%d-%b-%y" };
    // Two-digit years start with 1947, the first year of the plan.
    let in_plan = |date: Date| {
        if date.year() < 2047 { Ok(date) } else { date.with().year(date.year() - 100).build() }
    };
    let parsed = Date::strptime(format, text).and_then(in_plan).ok();
    if parsed.is_none() {
        row.warn(notes, column, "is not a date and is ignored");
    }
    parsed
}

/// The overlay complexes that a code belongs to, such as `212/646/917, 347/718/917`.
fn overlays(row: &Row<'_>, column: usize, notes: &mut Notes) -> Vec<BTreeSet<Npa>> {
    let mut codes = |list: &str| {
        let codes = list.split('/').map(str::trim).filter(|code| !code.is_empty());
        let parsed: Result<BTreeSet<Npa>, _> = codes.map(str::parse).collect();
        if parsed.is_err() {
            row.warn(notes, column, "names something other than area codes and is ignored");
        }
        parsed.unwrap_or_default()
    };
    row.cells[column].split(',').map(&mut codes).filter(|codes| !codes.is_empty()).collect()
}

fn states(row: &Row<'_>, country: Country, notes: &mut Notes) -> Vec<StateCode> {
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
