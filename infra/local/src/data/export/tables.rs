//! Export tables: their columns, and rows from records.

use std::collections::BTreeMap;

use clap::ValueEnum;
use numbering::records::{AreaCode, Carrier, Exchange};
use serde_json::{Map, Value, json};
use store::FileDates;

use crate::data::numbering_data::NumberingData;

const CAVEAT: &str = "A carrier is the holder of an exchange or thousands block as assigned. Numbers can \
                      be ported to another carrier; open data does not show porting.";
const SOURCES: &str = "NANPA (nanpa.com) and CNAC (cnac.ca) reports";
const SAMPLE: &str = "made-up sample; carriers, OCNs, rate centers and assignments are invented";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Table {
    AreaCodes,
    Carriers,
    Exchanges,
    /// Thousands blocks
    Blocks,
    /// Provenance and limitations
    Provenance,
}

/// A table's columns.
pub struct Columns {
    /// The names, which match the API's field names where both exist.
    pub names: Vec<&'static str>,
    /// The number of leading columns that identify a row.
    pub key_length: usize,
    /// Additional columns to index.
    pub indexed: &'static [&'static str],
}

/// Values by column, in column order.
pub type Row = Map<String, Value>;

impl Table {
    pub const RECORDS: [Self; 4] = [Self::AreaCodes, Self::Carriers, Self::Exchanges, Self::Blocks];

    /// The name in SQL and in file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::AreaCodes => "area_codes",
            Self::Carriers => "carriers",
            Self::Exchanges => "exchanges",
            Self::Blocks => "blocks",
            Self::Provenance => "provenance",
        }
    }

    pub fn columns(self) -> Columns {
        let (key_length, names, indexed): (_, _, &[_]) = match self {
            Self::AreaCodes => (1, "npa state states country total_exchanges", &[]),
            Self::Carriers => (
                1,
                "ocn company_name common_name carrier_type state country total_exchanges",
                &["company_name"],
            ),
            Self::Exchanges => (
                2,
                "npa nxx ocn company_name carrier_type rate_center state country status",
                &["ocn", "state", "rate_center"],
            ),
            Self::Blocks => (
                3,
                "npa nxx block ocn company_name carrier_type rate_center effective_date",
                &["ocn"],
            ),
            Self::Provenance => (1, "name value", &[]),
        };
        Columns { names: names.split(' ').collect(), key_length, indexed }
    }

    /// Returns `true` for a column that holds integers.
    pub fn is_integer(column: &str) -> bool {
        column == "total_exchanges" || column == "block"
    }

    /// The rows in key order, built lazily.
    pub fn rows(self, data: &NumberingData) -> Box<dyn Iterator<Item = Row> + '_> {
        let dataset = &data.dataset;
        let values: Box<dyn Iterator<Item = Value>> = match self {
            Self::AreaCodes => Box::new(dataset.area_codes().map(area_code)),
            Self::Carriers => Box::new(dataset.carriers().map(carrier)),
            Self::Exchanges => Box::new(dataset.exchanges().map(exchange)),
            Self::Blocks => Box::new(dataset.exchanges().flat_map(blocks)),
            Self::Provenance => Box::new(provenance(data).into_iter().map(|(name, value)| {
                let text = value.as_u64().map(|count| count.to_string().into());
                json!({ "name": name, "value": text.unwrap_or(value) })
            })),
        };
        let names = self.columns().names;
        Box::new(values.map(move |mut value| {
            names.iter().map(|&name| (name.to_owned(), value[name].take())).collect()
        }))
    }
}

fn area_code(area_code: AreaCode) -> Value {
    let states: Vec<String> = area_code.states.iter().map(ToString::to_string).collect();
    let mut row = json!(area_code);
    row["states"] = if states.is_empty() { Value::Null } else { states.join(" ").into() };
    row
}

fn carrier(carrier: Carrier) -> Value {
    let mut row = json!(carrier);
    row["total_exchanges"] = carrier.exchanges.total.into();
    row
}

fn exchange(exchange: Exchange) -> Value {
    json!(Exchange { blocks: BTreeMap::new(), ..exchange })
}

/// A row for each assigned thousands block. The exchange's rate center is the fallback.
fn blocks(exchange: Exchange) -> Vec<Value> {
    let Exchange { npa, nxx, rate_center, blocks, .. } = exchange;
    let rows = blocks.into_iter().map(|(digit, mut holder)| {
        holder.rate_center = holder.rate_center.or_else(|| rate_center.clone());
        let mut row = json!(holder);
        (row["npa"], row["nxx"], row["block"]) = (json!(npa), json!(nxx), digit.into());
        row["effective_date"] = row["effective"].take();
        row
    });
    rows.collect()
}

/// The data's origin and limitations. An undated report has a null date.
pub fn provenance(NumberingData { dataset, snapshot }: &NumberingData) -> Map<String, Value> {
    let FileDates { nanpa, cnac, npa_report } = snapshot.reports.file_dates();
    let provenance = json!({
        "data_version": snapshot.version,
        "imported_at": snapshot.ingested_at,
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
    provenance.as_object().cloned().unwrap_or_default()
}
