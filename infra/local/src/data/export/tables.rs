//! Export tables: their columns, and rows from records.

use clap::ValueEnum;
use numbering::records::{AreaCode, BlockHolder, Carrier, Exchange};
use serde::Serialize;

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

type Row = Vec<Cell>;

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
        match self {
            Self::AreaCodes => Box::new(dataset.area_codes().map(area_code)),
            Self::Carriers => Box::new(dataset.carriers().map(carrier)),
            Self::Exchanges => Box::new(dataset.exchanges().map(exchange)),
            Self::Blocks => Box::new(dataset.exchanges().flat_map(blocks)),
            Self::Provenance => Box::new(provenance(data).into_iter().map(|(name, value)| {
                let value = match value {
                    Cell::Count(count) => text(count),
                    other => other,
                };
                vec![text(name), value]
            })),
        }
    }
}

/// A value in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    Null,
    Text(String),
    Count(u32),
}

pub fn text(text: impl ToString) -> Cell {
    Cell::Text(text.to_string())
}

pub fn optional(value: Option<impl ToString>) -> Cell {
    value.map_or(Cell::Null, text)
}

fn area_code(AreaCode { npa, state, states, country, total_exchanges }: AreaCode) -> Row {
    let states: Vec<String> = states.iter().map(ToString::to_string).collect();
    let states = (!states.is_empty()).then(|| states.join(" "));
    vec![text(npa), optional(state), optional(states), text(country), Cell::Count(total_exchanges)]
}

fn carrier(carrier: Carrier) -> Row {
    vec![
        text(carrier.ocn),
        optional(carrier.company_name),
        optional(carrier.common_name),
        optional(carrier.carrier_type),
        optional(carrier.state),
        text(carrier.country),
        Cell::Count(carrier.exchanges.total),
    ]
}

fn exchange(exchange: Exchange) -> Row {
    vec![
        text(exchange.npa),
        text(exchange.nxx),
        optional(exchange.ocn),
        optional(exchange.company_name),
        optional(exchange.carrier_type),
        optional(exchange.rate_center),
        optional(exchange.state),
        text(exchange.country),
        text(exchange.status),
    ]
}

/// A row for each thousands block with a holder. The exchange's rate center is the fallback.
fn blocks(exchange: Exchange) -> Vec<Row> {
    let Exchange { npa, nxx, rate_center: of_exchange, blocks, .. } = exchange;
    let rows = blocks.into_iter().map(|(digit, holder)| {
        let BlockHolder { ocn, company_name, carrier_type, rate_center, effective } = holder;
        vec![
            text(npa),
            text(nxx),
            Cell::Count(digit.into()),
            text(ocn),
            optional(company_name),
            optional(carrier_type),
            optional(rate_center.or_else(|| of_exchange.clone())),
            optional(effective),
        ]
    });
    rows.collect()
}
