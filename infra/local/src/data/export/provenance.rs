//! The origin and limitations of exported data.

use serde_json::{Map, Value, json};
use store::{FileDates, Snapshot};

use crate::data::numbering_data::NumberingData;

/// The limitation of all carrier data.
const CAVEAT: &str = "A carrier is the holder of an exchange or thousands block as assigned. Numbers can \
                      be ported to another carrier; open data does not show porting.";

const SOURCES: &str = "reports of NANPA (nanpa.com) and CNAC (cnac.ca)";
const SAMPLE: &str = "made-up sample; carriers, OCNs, rate centers and assignments are invented";

/// The data's origin as names and values, the same for the same data. An undated report has no
/// value.
pub fn provenance(data: &NumberingData) -> Map<String, Value> {
    let NumberingData { dataset, snapshot } = data;
    let Snapshot { version, ingested_at, file_dates, .. } = snapshot;
    let FileDates { nanpa, cnac, npa_report } = file_dates;
    let origin = json!({
        "data_version": version,
        "imported_at": ingested_at,
        "nanpa_report_date": nanpa,
        "cnac_report_date": cnac,
        "area_code_report_date": npa_report,
        "sources": if snapshot.is_sample() { SAMPLE } else { SOURCES },
        "generator": concat!("tnr ", env!("CARGO_PKG_VERSION")),
        "area_codes": dataset.area_codes().len(),
        "carriers": dataset.carriers().len(),
        "exchanges": dataset.exchanges().len(),
        "blocks": dataset.block_count(),
        "caveat": CAVEAT,
    });
    origin.as_object().cloned().unwrap_or_default()
}
