//! Sample records for tests, which set only the fields that matter. Optional fields are missing.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{AreaCode, BlockHolder, Carrier, Exchange};
use crate::dataset::Dataset;

fn record<T: DeserializeOwned>(fields: Value) -> T {
    serde_json::from_value(fields).expect("a sample has a valid code")
}

impl Carrier {
    /// A US carrier without exchanges.
    pub fn sample(ocn: &str) -> Self {
        let exchanges = json!({ "total": 0, "by_state": {} });
        record(json!({ "ocn": ocn, "country": "US", "exchanges": exchanges }))
    }
}

impl AreaCode {
    /// A US area code in service, without states or exchanges.
    pub fn sample(npa: &str) -> Self {
        record(json!({ "npa": npa, "country": "US", "total_exchanges": 0 }))
    }
}

impl Exchange {
    /// An assigned US exchange, such as `415-200`, without a known holder.
    pub fn sample(npa_nxx: &str) -> Self {
        let (npa, nxx) = npa_nxx.split_once('-').unwrap_or_default();
        record(json!({ "npa": npa, "nxx": nxx, "country": "US", "status": "ASSIGNED" }))
    }
}

impl BlockHolder {
    /// A holder whose assignment is effective immediately.
    pub fn sample(ocn: &str) -> Self {
        record(json!({ "ocn": ocn }))
    }
}

#[derive(Deserialize)]
pub(crate) struct RecordLists {
    pub carriers: Vec<Carrier>,
    pub area_codes: Vec<AreaCode>,
    pub exchanges: Vec<Exchange>,
}

impl Dataset {
    /// Builds a dataset from a JSON object with the lists `carriers`, `area_codes` and `exchanges`.
    pub fn from_json(json: &str) -> serde_json::Result<Self> {
        let RecordLists { carriers, area_codes, exchanges } = serde_json::from_str(json)?;
        Ok(Self::new(carriers, area_codes, exchanges))
    }
}
