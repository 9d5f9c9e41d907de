//! The origin and limitations of exported data.

use store::{FileDates, Snapshot};

use super::tables::{Cell, optional, text};
use crate::data::numbering_data::NumberingData;

/// The limitation of all carrier data.
const CAVEAT: &str = "A carrier is the holder of an exchange or thousands block as assigned. Numbers can \
                      be ported to another carrier; open data does not show porting.";

const SOURCES: &str = "reports of NANPA (nanpa.com) and CNAC (cnac.ca)";
const SAMPLE: &str = "made-up sample; carriers, OCNs, rate centers and assignments are invented";

/// The data's origin as names and values, the same for the same data. An undated report has no
/// value.
pub fn provenance(data: &NumberingData) -> Vec<(&'static str, Cell)> {
    let NumberingData { dataset, snapshot } = data;
    let Snapshot { version, ingested_at, file_dates, .. } = snapshot;
    let FileDates { nanpa, cnac, npa_report } = file_dates;
    let count = |count: usize| Cell::Count(u32::try_from(count).unwrap_or(u32::MAX));
    vec![
        ("data_version", text(version)),
        ("imported_at", text(ingested_at)),
        ("nanpa_report_date", optional(*nanpa)),
        ("cnac_report_date", optional(*cnac)),
        ("area_code_report_date", optional(*npa_report)),
        ("sources", text(if snapshot.is_sample() { SAMPLE } else { SOURCES })),
        ("generator", text(concat!("tnr ", env!("CARGO_PKG_VERSION")))),
        ("area_codes", count(dataset.area_codes().len())),
        ("carriers", count(dataset.carriers().len())),
        ("exchanges", count(dataset.exchanges().len())),
        ("blocks", count(dataset.block_count())),
        ("caveat", text(CAVEAT)),
    ]
}
