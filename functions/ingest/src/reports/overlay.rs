//! The carriers overlay: names and types that NANPA and CNAC do not publish.

use numbering::records::{CarrierType, Country, Ocn, StateCode};

use super::state;
use crate::{
    error::ReportError,
    outcome::Notes,
    table::{Column, Report, Row},
};

pub(crate) const REPORT: Report<6, OverlayRow> = Report {
    file: "the carriers overlay",
    delimiter: b',',
    columns: [
        Column::required(&["ocn"]),
        Column::required(&["company_name"]),
        Column::required(&["common_name"]),
        Column::required(&["carrier_type"]),
        Column::required(&["state"]),
        Column::required(&["country"]),
    ],
    unused: &[],
    max_rows: 100_000,
    parse_row: overlay_row,
    is_usable: |carriers| !carriers.is_empty(),
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OverlayRow {
    pub ocn: Ocn,
    pub company_name: Option<String>,
    pub common_name: Option<String>,
    pub carrier_type: Option<CarrierType>,
    pub state: Option<StateCode>,
    pub country: Option<Country>,
}

fn overlay_row(row: &Row<'_, 6>, notes: &mut Notes) -> Result<Option<OverlayRow>, ReportError> {
    let differs = |name: &String| !name.eq_ignore_ascii_case(&row.cells[1]);
    let country = row.parse_if_known(5, notes);
    Ok(Some(OverlayRow {
        ocn: row.parse(0)?,
        company_name: row.text(1),
        common_name: row.text(2).filter(differs),
        carrier_type: row.parse_if_known(3, notes),
        state: state(row, 4, country, notes),
        country,
    }))
}

#[cfg(test)]
mod tests {
    use super::{super::tests::read, *};

    #[test]
    fn unknown_types_foreign_states_and_duplicate_names_are_ignored() {
        let text = "ocn,company_name,common_name,carrier_type,state,country\n\
                    6010,\"NEW CINGULAR, LLC\",AT&T,WIRELESS,CA,US\n\
                    0051,Pacific Bell,PACIFIC BELL,RBOC,,\n\
                    169D,,,CLEC,ON,US\n";
        let (carriers, notes) = read(&REPORT, text);
        let [cingular, pacific, unnamed] = &carriers[..] else { panic!("{carriers:?}") };
        assert_eq!(cingular.common_name.as_deref(), Some("AT&T"));
        assert_eq!(cingular.carrier_type, Some(CarrierType::Wireless));
        assert_eq!((&pacific.common_name, pacific.carrier_type), (&None, None));
        assert_eq!((&unnamed.company_name, unnamed.state), (&None, None));
        assert_eq!(unnamed.country, Some(Country::Us));
        assert!(notes.contains("'RBOC' on line 3") && notes.contains("'ON' on line 4"));
    }
}
