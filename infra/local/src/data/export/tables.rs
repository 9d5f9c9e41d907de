//! Export tables: their columns, and rows from records.

use std::collections::BTreeMap;

use clap::ValueEnum;
use numbering::records::{AreaCode, Carrier, Exchange};
use serde_json::{Map, Value, json};

use super::provenance::provenance;
use crate::data::numbering_data::NumberingData;

/// An export table.
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

/// The values by column, in the order of the columns.
pub type Row = Map<String, Value>;

impl Table {
    /// The tables with numbering data.
    pub const OF_RECORDS: [Self; 4] =
        [Self::AreaCodes, Self::Carriers, Self::Exchanges, Self::Blocks];

    /// The SQL name.
    pub fn name(self) -> &'static str {
        match self {
            Self::AreaCodes => "area_codes",
            Self::Carriers => "carriers",
            Self::Exchanges => "exchanges",
            Self::Blocks => "blocks",
            Self::Provenance => "provenance",
        }
    }

    /// The file name without its extension.
    pub fn file_name(self) -> String {
        self.name().replace('_', "-")
    }

    /// The column names, which match the API's fields where it has them.
    pub fn columns(self) -> Vec<&'static str> {
        let columns = match self {
            Self::AreaCodes => "npa state states country total_exchanges",
            Self::Carriers => {
                "ocn company_name common_name carrier_type state country total_exchanges"
            }
            Self::Exchanges => {
                "npa nxx ocn company_name carrier_type rate_center state country status"
            }
            Self::Blocks => {
                "npa nxx block ocn company_name carrier_type rate_center effective_date"
            }
            Self::Provenance => "name value",
        };
        columns.split(' ').collect()
    }

    /// The number of leading columns that identify a row.
    pub fn key_columns(self) -> usize {
        match self {
            Self::AreaCodes | Self::Carriers | Self::Provenance => 1,
            Self::Exchanges => 2,
            Self::Blocks => 3,
        }
    }

    /// Additional columns to index.
    pub fn indexed_columns(self) -> &'static [&'static str] {
        match self {
            Self::AreaCodes | Self::Provenance => &[],
            Self::Carriers => &["company_name"],
            Self::Exchanges => &["ocn", "state", "rate_center"],
            Self::Blocks => &["ocn"],
        }
    }

    /// Returns `true` for a column of counts.
    pub fn is_count(column: &str) -> bool {
        column == "total_exchanges" || column == "block"
    }

    /// The rows in key order, each built when reached.
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
        let columns = self.columns();
        Box::new(values.map(move |mut value| {
            columns.iter().map(|&column| (column.to_owned(), value[column].take())).collect()
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

/// A row for each thousands block with a holder. The exchange's rate center is the fallback.
fn blocks(exchange: Exchange) -> Vec<Value> {
    let Exchange { npa, nxx, rate_center: of_exchange, blocks, .. } = exchange;
    let rows = blocks.into_iter().map(|(digit, mut holder)| {
        holder.rate_center = holder.rate_center.or_else(|| of_exchange.clone());
        let mut row = json!(holder);
        (row["npa"], row["nxx"], row["block"]) = (json!(npa), json!(nxx), digit.into());
        row["effective_date"] = row["effective"].take();
        row
    });
    rows.collect()
}
