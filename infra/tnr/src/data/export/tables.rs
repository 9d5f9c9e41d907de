//! Export tables: their columns, and rows built from records.

use std::{collections::BTreeMap, sync::LazyLock};

use clap::ValueEnum;
use formatting::time_zones_for_area_codes;
use numbering::{
    dataset::Dataset,
    records::{AreaCode, Carrier, Exchange},
};
use serde_json::{Map, Value, json};
use store::FileDates;
use strum::IntoStaticStr;

use super::{
    Source,
    prefixes::{block_holder, prefixes},
};
use crate::{data::numbering_data::NumberingData, terminal::progress::Unit};

const CAVEAT: &str = "A carrier is the holder of an exchange or thousands block as assigned. Numbers can \
                      be ported to another carrier; open data does not show porting.";
const SOURCES: &str = "NANPA (nanpa.com) and CNAC (cnac.ca) reports";
const SAMPLE: &str = "made-up sample; carriers, OCNs, rate centers and assignments are invented";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Table {
    AreaCodes,
    /// The states of each area code
    AreaCodeStates,
    /// Area codes that serve the same area
    AreaCodeOverlays,
    Carriers,
    Exchanges,
    /// Thousands blocks
    Blocks,
    /// Holders by number prefix on one day, for telephone switches
    Prefixes,
    /// Tables and columns
    Dictionary,
    /// Provenance and limitations
    Provenance,
}

/// A column in a table. Names match the API's field names where both exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub sql_type: &'static str,
    pub description: &'static str,
}

/// A row's values, in column order.
pub type Row = Vec<Value>;

/// All columns by table. The file has each table's name and description before its columns.
static COLUMNS: LazyLock<Vec<(&str, Vec<Column>)>> =
    LazyLock::new(|| include_str!("columns.txt").split("\n\n").filter_map(parse_table).collect());

fn parse_table(paragraph: &'static str) -> Option<(&'static str, Vec<Column>)> {
    let (name, _) = paragraph.split_once(':')?;
    let columns = paragraph.lines().skip(1).filter_map(|line| {
        let (name, rest) = line.trim().split_once(' ')?;
        let (sql_type, description) = rest.split_once(' ')?;
        Some(Column { name, sql_type, description })
    });
    Some((name, columns.collect()))
}

impl Table {
    /// The tables in a full export. `prefixes` repeats the exchanges and blocks.
    pub const ALL: [Self; 7] = [
        Self::AreaCodes,
        Self::AreaCodeStates,
        Self::AreaCodeOverlays,
        Self::Carriers,
        Self::Exchanges,
        Self::Blocks,
        Self::Dictionary,
    ];

    /// The name in SQL and in file names.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn columns(self) -> &'static [Column] {
        let found = COLUMNS.iter().find(|(name, _)| *name == self.name());
        found.map(|(_, columns)| &**columns).unwrap_or_default()
    }

    pub fn rows(self, source: &Source) -> Box<dyn Iterator<Item = Row> + '_> {
        let Source { data, effective_on, progress } = source;
        let dataset = &data.dataset;
        let prefixes = move |exchange| prefixes(&exchange, *effective_on);
        let stage = format!("Exporting {}", self.name().replace('_', " "));
        progress.start(stage, Unit::Count("rows"), None);
        let objects: Box<dyn Iterator<Item = Value>> = match self {
            Self::AreaCodes => Box::new(dataset.area_codes().map(|it| area_code(it, dataset))),
            Self::AreaCodeStates => Box::new(dataset.area_codes().flat_map(states)),
            Self::AreaCodeOverlays => Box::new(dataset.area_codes().flat_map(overlays)),
            Self::Carriers => Box::new(dataset.carriers().map(carrier)),
            Self::Exchanges => Box::new(dataset.exchanges().map(exchange)),
            Self::Blocks => Box::new(dataset.exchanges().flat_map(|it| blocks(&it))),
            Self::Prefixes => Box::new(dataset.exchanges().flat_map(prefixes)),
            Self::Dictionary => Box::new(dictionary()),
            Self::Provenance => Box::new(provenance(source).into_iter().map(|(name, value)| {
                let text = value.as_u64().map(|count| count.to_string().into());
                json!({ "name": name, "value": text.unwrap_or(value) })
            })),
        };
        let columns = self.columns();
        Box::new(objects.map(|mut object| {
            progress.add(1);
            columns.iter().map(|column| to_cell(object[column.name].take())).collect()
        }))
    }
}

/// Converts lists to text and booleans to numbers.
fn to_cell(value: Value) -> Value {
    match value {
        Value::Bool(value) => u8::from(value).into(),
        Value::Array(items) => {
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            if texts.is_empty() { Value::Null } else { texts.join(" ").into() }
        }
        value => value,
    }
}

fn area_code(area_code: AreaCode, dataset: &Dataset) -> Value {
    let zones = dataset.time_zones(area_code.npa, time_zones_for_area_codes);
    let total_exchanges = area_code.is_covered().then_some(area_code.total_exchanges);
    let AreaCode { npa, state, country, plan, .. } = area_code;
    let (dialing, relief) = (plan.dialing, plan.relief);
    json!({
        "npa": npa,
        "state": state,
        "country": country,
        "plan_country": plan.plan_country,
        "service": plan.service,
        "is_in_service": plan.is_in_service,
        "assigned_on": plan.assigned_on,
        "in_service_on": plan.in_service_on,
        "parent_npa": plan.parent,
        "time_zones": zones,
        "home_local_dialing": dialing.home_local,
        "home_toll_dialing": dialing.home_toll,
        "foreign_local_dialing": dialing.foreign_local,
        "foreign_toll_dialing": dialing.foreign_toll,
        "dialing_notes": dialing.notes,
        "is_in_jeopardy": relief.is_in_jeopardy,
        "is_relief_in_progress": relief.is_in_progress,
        "relief_status": relief.status,
        "planning_letters": relief.planning_letters,
        "notes": plan.notes,
        "total_exchanges": total_exchanges,
    })
}

fn states(area_code: AreaCode) -> Vec<Value> {
    let npa = area_code.npa;
    area_code.states.iter().map(|state| json!({ "npa": npa, "state": state })).collect()
}

fn overlays(area_code: AreaCode) -> Vec<Value> {
    let npa = area_code.npa;
    let others = area_code.plan.overlay.iter().filter(|other| **other != npa);
    others.map(|other| json!({ "npa": npa, "overlay_npa": other })).collect()
}

fn carrier(carrier: Carrier) -> Value {
    let mut row = json!(carrier);
    row["total_exchanges"] = carrier.exchanges.total.into();
    row
}

fn exchange(exchange: Exchange) -> Value {
    json!(Exchange { blocks: BTreeMap::new(), ..exchange })
}

fn blocks(exchange: &Exchange) -> Vec<Value> {
    let blocks = exchange.blocks.iter().map(|(digit, holder)| {
        let mut row = block_holder(exchange, holder);
        (row["npa"], row["nxx"], row["block"]) =
            (json!(exchange.npa), json!(exchange.nxx), (*digit).into());
        row
    });
    blocks.collect()
}

fn dictionary() -> impl Iterator<Item = Value> {
    COLUMNS.iter().flat_map(|(table, columns)| {
        columns.iter().map(move |Column { name, sql_type, description }| {
            json!({
                "table_name": table, "column_name": name, "type": sql_type,
                "description": description,
            })
        })
    })
}

/// The data's origin and limitations. A report without a date has `null`.
pub fn provenance(Source { data, effective_on, .. }: &Source) -> Map<String, Value> {
    let NumberingData { dataset, snapshot, .. } = data;
    let FileDates { nanpa, cnac, npa_report } = snapshot.reports.file_dates();
    let provenance = json!({
        "data_version": snapshot.version,
        "imported_at": snapshot.ingested_at,
        "nanpa_report_date": nanpa,
        "cnac_report_date": cnac,
        "area_code_report_date": npa_report,
        "effective_on": effective_on,
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
