//! Holders by number prefix on one day.

use std::{collections::BTreeMap, iter};

use jiff::civil::Date;
use numbering::records::{Exchange, Status};
use serde_json::{Value, json};

use super::blocks::block_holder;

const HOLDER: [&str; 3] = ["ocn", "company_name", "carrier_type"];

/// A row for an assigned exchange, and one for each of its blocks with a holder now or later. In a pooled exchange, only
/// blocks have holders.
pub(super) fn prefixes(exchange: &Exchange, day: Date) -> Vec<Value> {
    if exchange.status != Status::Assigned && !exchange.is_pooled() {
        return Vec::new();
    }
    let prefix = format!("1{}{}", exchange.npa, exchange.nxx);
    let mut own = json!(Exchange { blocks: BTreeMap::new(), ..exchange.clone() });
    own["prefix"] = json!(prefix);
    if exchange.is_pooled() {
        HOLDER.iter().for_each(|name| own[name] = Value::Null);
    }
    let blocks = exchange.blocks.iter().map(|(digit, holder)| {
        let block = block_holder(exchange, holder);
        let mut row = own.clone();
        row["prefix"] = json!(format!("{prefix}{digit}"));
        let is_effective = holder.is_effective_on(day);
        for name in HOLDER.into_iter().chain(["rate_center"]) {
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

#[cfg(test)]
mod tests {
    use std::{fs, sync::Arc};

    use jiff::{Timestamp, ToSpan};
    use numbering::{
        dataset::Dataset,
        records::{Carrier, Version},
    };
    use rusqlite::Connection;
    use serde_json::Map;
    use store::{ImportedReports, Snapshot};

    use super::*;
    use crate::{
        data::{
            export::{
                Source,
                files::{TableFormat, write_database, write_table},
                tables::{Row, Table},
            },
            numbering_data::NumberingData,
        },
        terminal::progress::Progress,
    };

    const DAY: Date = Date::constant(2026, 12, 25);
    /// The day before, the day and the day after, on which blocks become effective.
    const DATES: [Option<Date>; 4] =
        [Some(Date::constant(2026, 12, 24)), Some(DAY), Some(Date::constant(2026, 12, 26)), None];
    const BLOCK_HOLDER: &str = "3201";
    /// The code, holder and status, and `true` if it is pooled.
    const EXCHANGES: [(&str, Option<&str>, Status, bool); 4] = [
        ("200", Some("515J"), Status::Assigned, true),
        ("201", Some("515J"), Status::Assigned, false),
        ("202", None, Status::Unassigned, false),
        ("203", None, Status::Reserved, true),
    ];

    /// The rate center of the block with this digit, its first day, and `false` for the digits without a holder.
    fn block(digit: u8) -> (Option<&'static str>, Option<Date>, bool) {
        (if digit < 4 { Some("NOVATO") } else { None }, DATES[usize::from(digit % 4)], digit < 8)
    }

    fn source(effective_on: Date) -> Source {
        let carrier = |ocn: &str| {
            json!({
                "ocn": ocn, "company_name": format!("COMPANY {ocn}"), "common_name": null, "carrier_type": "CLEC",
                "state": null, "country": "US", "exchanges": { "total": 0, "by_state": {} },
            })
        };
        let blocks = (0..10).map(block).enumerate().filter(|(_, (.., is_held))| *is_held);
        let blocks: Map<String, Value> = blocks
            .map(|(digit, (rate_center, effective, _))| {
                let mut holder = carrier(BLOCK_HOLDER);
                (holder["rate_center"], holder["effective_date"]) =
                    (json!(rate_center), json!(effective));
                (digit.to_string(), holder)
            })
            .collect();
        let exchanges = EXCHANGES.map(|(nxx, holder, status, is_pooled)| {
            json!({
                "npa": "415", "nxx": nxx, "ocn": holder, "company_name": holder.map(|ocn| format!("COMPANY {ocn}")),
                "carrier_type": holder.map(|_| "CLEC"), "rate_center": "SAN RAFAEL", "state": "CA", "country": "US",
                "status": status, "blocks": if is_pooled { blocks.clone() } else { Map::new() },
            })
        });
        let carriers: Vec<Carrier> =
            ["515J", BLOCK_HOLDER].map(|ocn| serde_json::from_value(carrier(ocn)).unwrap()).into();
        let exchanges: Vec<Exchange> =
            exchanges.map(|exchange| serde_json::from_value(exchange).unwrap()).into();
        let area_code = json!({
            "npa": "415", "state": "CA", "states": ["CA"], "country": "US", "total_exchanges": 4,
        });
        let area_codes = vec![serde_json::from_value(area_code).unwrap()];
        let dataset = Dataset::new(carriers, area_codes, exchanges);
        let (version, reports) = (Version::new(Timestamp::UNIX_EPOCH), ImportedReports::default());
        let statistics = dataset.statistics();
        let snapshot = Snapshot::new(version, b"", statistics, reports, Timestamp::UNIX_EPOCH);
        let data = NumberingData { dataset: Arc::new(dataset), snapshot };
        Source { data, effective_on, progress: Progress::hidden() }
    }

    /// A number's holder and rate center, and the day on which the next holder follows.
    type Holder<'a> = (Option<&'a str>, Option<&'a str>, Option<String>);

    fn expected(nxx: &str, digit: u8, day: Date) -> Option<Holder<'static>> {
        let (_, holder, status, is_pooled) =
            *EXCHANGES.iter().find(|(code, ..)| *code == nxx).unwrap();
        let (rate_center, first_day, is_held) = block(digit);
        let rate_center = rate_center.or(Some("SAN RAFAEL"));
        (is_pooled || status == Status::Assigned).then(|| match first_day {
            _ if !is_pooled => (holder, Some("SAN RAFAEL"), None),
            _ if !is_held => (None, Some("SAN RAFAEL"), None),
            Some(first_day) if first_day > day => {
                (None, Some("SAN RAFAEL"), Some(first_day.to_string()))
            }
            _ => (Some(BLOCK_HOLDER), rate_center, None),
        })
    }

    fn cell<'a>(row: &'a Row, name: &str) -> &'a Value {
        let columns = Table::Prefixes.columns();
        &row[columns.iter().position(|column| column.name == name).unwrap()]
    }

    #[test]
    fn longest_prefix_has_the_holder_on_the_day() {
        for day in DATES.into_iter().flatten() {
            let rows: Vec<Row> = Table::Prefixes.rows(&source(day)).collect();
            for (nxx, digit) in
                EXCHANGES.iter().flat_map(|(nxx, ..)| (0..10).map(move |it| (nxx, it)))
            {
                let number = format!("1415{nxx}{digit}678");
                let matching = rows
                    .iter()
                    .filter(|row| number.starts_with(cell(row, "prefix").as_str().unwrap()));
                let longest =
                    matching.max_by_key(|row| cell(row, "prefix").as_str().unwrap().len());
                let found = longest.map(|row| {
                    let [ocn, center, from] = ["ocn", "rate_center", "effective_from"]
                        .map(|name| cell(row, name).as_str());
                    (ocn, center, from.map(str::to_owned))
                });
                assert_eq!(found, expected(nxx, digit, day), "{number} on {day}");
            }
        }
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
        assert_eq!(database.execute(&update, []).unwrap(), 2 * 4);
        let names = ["ocn", "company_name", "carrier_type", "rate_center", "effective_from"];
        let sql = format!("SELECT {} FROM prefixes ORDER BY prefix", names.join(", "));
        let mut select = database.prepare(&sql).unwrap();
        let mut updated = select.query([]).unwrap();
        for row in Table::Prefixes.rows(&source(DAY)) {
            let updated = updated.next().unwrap().unwrap();
            for (index, name) in names.iter().enumerate() {
                let value: Option<String> = updated.get(index).unwrap();
                assert_eq!(value.as_deref(), cell(&row, name).as_str(), "{name} of {row:?}");
            }
        }
        assert!(updated.next().unwrap().is_none());
    }

    #[test]
    fn prefixes_are_the_same_in_every_format() {
        let source = source(DAY);
        let folder = tempfile::TempDir::new().unwrap();
        let text = |format| {
            let file = folder.path().join("file");
            write_table(&source, Table::Prefixes, format, fs::File::create(&file).unwrap())
                .unwrap();
            fs::read_to_string(file).unwrap()
        };
        let rows: Vec<Row> = Table::Prefixes.rows(&source).collect();
        let lines = text(TableFormat::JsonLines);
        let objects: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let columns = Table::Prefixes.columns().iter().map(|column| column.name);
        let columns: Vec<&str> = columns.collect();
        let csv = text(TableFormat::Csv);
        let mut csv = csv::Reader::from_reader(csv.as_bytes());
        assert_eq!(csv.headers().unwrap(), columns);
        let cells: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
        let database = folder.path().join("database");
        write_database(&source, &database).unwrap();
        let database = Connection::open(database).unwrap();
        let mut select = database.prepare("SELECT * FROM prefixes ORDER BY prefix").unwrap();
        let mut selected = select.query([]).unwrap();
        assert_eq!((objects.len(), cells.len()), (rows.len(), rows.len()));
        for ((row, object), cells) in rows.iter().zip(&objects).zip(&cells) {
            let stored = selected.next().unwrap().unwrap();
            for (index, name) in columns.iter().enumerate() {
                let value = row[index].as_str();
                assert_eq!(object[name].as_str(), value, "{name}");
                assert_eq!(&cells[index], value.unwrap_or_default(), "{name}");
                assert_eq!(stored.get::<_, Option<String>>(index).unwrap().as_deref(), value);
            }
        }
        assert!(selected.next().unwrap().is_none());
        let day: String = database
            .query_one("SELECT value FROM provenance WHERE name = 'effective_on'", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(day, DAY.to_string());
    }
}
