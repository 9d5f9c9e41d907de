//! The carriers overlay: names and types that NANPA and CNAC do not publish.

use numbering::records::{Carrier, CarrierType, Country, Ocn, StateCode, TypeBasis};
use store::ReportName;

use super::{Report, ReportRows, state};
use crate::{
    error::ReportError,
    notes::Notes,
    table::{Format, Row},
};

pub(super) const REPORT: Report = Report {
    format: Format {
        name: ReportName::Carriers,
        file: "the carriers overlay",
        delimiter: b',',
        columns: "ocn, company_name, common_name, carrier_type, state, country",
        unused: "",
        max_rows: 100_000,
    },
    published_at: None,
    is_required: false,
    keeps_blocks_in: None,
    parse_row: overlay_row,
    figures: |dataset, _| {
        let is_typed = |carrier: &Carrier| carrier.type_basis == Some(TypeBasis::CarriersFile);
        vec![("typed_carriers", dataset.carriers().filter(is_typed).count() as f64)]
    },
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

fn overlay_row(row: &Row<'_>, rows: &mut ReportRows, notes: &mut Notes) -> Result<(), ReportError> {
    let differs = |name: &String| !name.eq_ignore_ascii_case(&row.cells[1]);
    let country = row.parse_if_known(5, notes);
    rows.overlay.push(OverlayRow {
        ocn: row.parse(0)?,
        company_name: row.text(1),
        common_name: row.text(2).filter(differs),
        carrier_type: row.parse_if_known(3, notes),
        state: state(row, 4, country, notes),
        country,
    });
    Ok(())
}
