//! Holders by number prefix on a given day.

use std::{collections::BTreeMap, iter};

use jiff::civil::Date;
use numbering::records::{BlockHolder, Exchange, Status};
use serde_json::{Value, json};

const HOLDER_COLUMNS: [&str; 3] = ["ocn", "company_name", "carrier_type"];

/// A row for an assigned exchange, and one for each block with a current or future holder. In a pooled exchange, only
/// blocks have holders.
pub(super) fn prefixes(exchange: &Exchange, day: Date) -> Vec<Value> {
    if exchange.status != Status::Assigned && !exchange.is_pooled() {
        return Vec::new();
    }
    let prefix = format!("1{}{}", exchange.npa, exchange.nxx);
    let mut own = json!(Exchange { blocks: BTreeMap::new(), ..exchange.clone() });
    own["prefix"] = json!(prefix);
    if exchange.is_pooled() {
        HOLDER_COLUMNS.iter().for_each(|name| own[name] = Value::Null);
    }
    let blocks = exchange.blocks.iter().map(|(digit, holder)| {
        let block = block_holder(exchange, holder);
        let mut row = own.clone();
        row["prefix"] = json!(format!("{prefix}{digit}"));
        let is_effective = holder.is_effective_on(day);
        for name in HOLDER_COLUMNS.into_iter().chain(["rate_center"]) {
            let column = if is_effective { name.to_owned() } else { format!("next_{name}") };
            row[column] = block[name].clone();
        }
        if !is_effective {
            row["effective_from"] = json!(holder.effective);
        }
        row
    });
    iter::once(own.clone()).chain(blocks).collect()
}

/// A block's holder. The exchange's rate center is the fallback.
pub(super) fn block_holder(exchange: &Exchange, holder: &BlockHolder) -> Value {
    let mut row = json!(holder);
    if holder.rate_center.is_none() {
        row["rate_center"] = json!(exchange.rate_center);
    }
    row
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;
    use numbering::{
        dataset::Dataset,
        records::{AreaCode, Carrier},
    };
    use rusqlite::Connection;

    use super::*;
    use crate::data::export::{
        Source,
        files::write_database,
        tables::{Row, Table},
    };

    const DAY: Date = Date::constant(2026, 12, 25);
    /// The start dates of blocks 0 to 3.
    const DATES: [Option<Date>; 4] =
        [Some(Date::constant(2026, 12, 24)), Some(DAY), Some(Date::constant(2026, 12, 26)), None];
    /// The holder, status, and whether the exchange is pooled.
    const EXCHANGES: [(&str, Option<&str>, Status, bool); 4] = [
        ("200", Some("515J"), Status::Assigned, true),
        ("201", Some("515J"), Status::Assigned, false),
        ("202", None, Status::Unassigned, false),
        ("203", None, Status::Reserved, true),
    ];

    fn source(effective_on: Date) -> Source {
        let company = |ocn: &str| Some(format!("COMPANY {ocn}"));
        let carrier_type = "CLEC".parse().ok();
        let carrier =
            |ocn| Carrier { company_name: company(ocn), carrier_type, ..Carrier::sample(ocn) };
        let blocks = (0..).zip(DATES).map(|(digit, effective)| {
            let rate_center = effective.map(|_| "NOVATO".to_owned());
            let company_name = company("3201");
            let holder = BlockHolder::sample("3201");
            (digit, BlockHolder { company_name, carrier_type, rate_center, effective, ..holder })
        });
        let blocks: BTreeMap<u8, BlockHolder> = blocks.collect();
        let exchanges = EXCHANGES.map(|(nxx, ocn, status, is_pooled)| Exchange {
            ocn: ocn.and_then(|ocn| ocn.parse().ok()),
            company_name: ocn.and_then(company),
            carrier_type: carrier_type.filter(|_| ocn.is_some()),
            rate_center: Some("SAN RAFAEL".to_owned()),
            status,
            blocks: if is_pooled { blocks.clone() } else { BTreeMap::new() },
            ..Exchange::sample(&format!("415-{nxx}"))
        });
        let carriers = ["515J", "3201"].map(carrier).into();
        let area_codes = vec![AreaCode { total_exchanges: 4, ..AreaCode::sample("415") }];
        let dataset = Dataset::new(carriers, area_codes, exchanges.into());
        Source::new(dataset, effective_on)
    }

    fn cells<const N: usize>(day: Date, names: [&str; N]) -> Vec<String> {
        let columns = Table::Prefixes.columns();
        let line = |row: Row| {
            let cell = |name: &str| {
                let index = columns.iter().position(|column| column.name == name).unwrap();
                row[index].as_str().unwrap_or("-").to_owned()
            };
            names.map(cell).join(" ")
        };
        Table::Prefixes.rows(&source(day)).map(line).collect()
    }

    #[test]
    fn longest_prefix_has_the_holder_on_that_day() {
        let names =
            ["prefix", "ocn", "rate_center", "effective_from", "next_ocn", "next_rate_center"];
        assert_eq!(
            cells(DAY, names),
            [
                "1415200 - SAN RAFAEL - - -",
                "14152000 3201 NOVATO - - -",
                "14152001 3201 NOVATO - - -",
                "14152002 - SAN RAFAEL 2026-12-26 3201 NOVATO",
                "14152003 3201 SAN RAFAEL - - -",
                "1415201 515J SAN RAFAEL - - -",
                "1415203 - SAN RAFAEL - - -",
                "14152030 3201 NOVATO - - -",
                "14152031 3201 NOVATO - - -",
                "14152032 - SAN RAFAEL 2026-12-26 3201 NOVATO",
                "14152033 3201 SAN RAFAEL - - -",
            ]
        );
    }

    #[test]
    fn documented_update_applies_the_next_holders() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("database");
        write_database(&source(DATES[0].unwrap() - 1.day()), &file).unwrap();
        let database = Connection::open(file).unwrap();
        let (_, rest) =
            include_str!("../../../../../docs/EXPORT.md").split_once("```sql\n").unwrap();
        let (update, _) = rest.split_once("```").unwrap();
        let update = update.replace("CURRENT_DATE", &format!("'{DAY}'"));
        assert_eq!(database.execute(&update, []).unwrap(), 2 * 2);
        let names = ["ocn", "company_name", "carrier_type", "rate_center", "effective_from"];
        let values = names.map(|name| format!("ifnull({name}, '-')")).join(" || ' ' || ");
        let sql = format!("SELECT {values} FROM prefixes ORDER BY prefix");
        let mut select = database.prepare(&sql).unwrap();
        let updated = select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap);
        assert_eq!(updated.collect::<Vec<String>>(), cells(DAY, names));
    }
}
