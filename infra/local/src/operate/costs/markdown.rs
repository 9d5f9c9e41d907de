//! The page docs/COSTS.md: text from `page.txt`, and computed tables.

use std::collections::HashMap;

use indicatif::HumanCount;

use super::{
    Bill, Line, PRICES_CSV, REGION, REQUESTS_CSV, Usage, YEAR, checks_of_container, cost,
    measures::{
        ITEM_BYTES, ITEMS, LOG_BYTES, REQUEST_MS, SNAPSHOT_BYTES, START_MS, UNKNOWN_KEY_UNITS,
    },
    rows, throttling_rate, units_of_snapshot,
};

/// Monthly requests in the document.
const MONTHS: [f64; 3] = [1e6, 1e7, 1e8];
const MONTHS_HEADING: &str = "| A month with so many requests | 1 million | 10 million | 100 million |\n|---|---:|---:|---:|\n";
/// The share of requests that start a container in those months.
const COLD_SHARE: f64 = 0.01;
const GB: f64 = 1_073_741_824.0;

/// The whole document.
pub fn document() -> String {
    let day = Usage::worst_day(COLD_SHARE);
    let writes_of_import = f64::from(ITEMS) * f64::from(ITEM_BYTES.div_ceil(1024));
    let values = [
        ("region", REGION.to_owned()),
        ("year", YEAR.to_string()),
        ("months", months()),
        (
            "requests",
            table(
                REQUESTS_CSV,
                ["name", "share", "route", "rate", "response_bytes", "read_units", "ms"],
            ),
        ),
        ("log_bytes", LOG_BYTES.to_string()),
        ("request_ms", REQUEST_MS.to_string()),
        ("start_ms", START_MS.to_string()),
        ("cold_share", (COLD_SHARE * 100.0).to_string()),
        ("snapshot_mb", dollars(f64::from(SNAPSHOT_BYTES) / 1e6)),
        ("snapshot_units", units_of_snapshot(SNAPSHOT_BYTES).to_string()),
        ("options", options()),
        ("rate", count(throttling_rate())),
        ("unknown_key_units", UNKNOWN_KEY_UNITS.to_string()),
        ("day_requests", (day.requests / 1e6).round().to_string()),
        ("day_gb", count(day.requests * day.request.response_bytes / GB)),
        ("day", bill_of(&day)),
        ("writes", dollars(cost("write_units", 1e6))),
        ("more_writes", dollars(cost("write_units", 2e6))),
        ("items", count(ITEMS.into())),
        ("first_import", dollars(cost("write_units", writes_of_import))),
        ("checks_of_container", dollars(checks_of_container())),
        ("prices", table(PRICES_CSV, ["what", "dollars", "unit", "source"])),
    ];
    values.iter().fold(include_str!("page.txt").to_owned(), |text, (name, value)| {
        text.replace(&format!("{{{name}}}"), value.trim_end())
    })
}

fn dollars(dollars: f64) -> String {
    format!("{dollars:.2}")
}

fn count(count: f64) -> String {
    HumanCount(count as u64).to_string()
}

fn row<const COLUMNS: usize>(name: &str, cells: [String; COLUMNS]) -> String {
    format!("| {name} | {} |\n", cells.join(" | "))
}

fn months() -> String {
    let bills = MONTHS.map(|requests| Bill::new(&Usage::month(requests, COLD_SHARE)));
    let lines = |of: fn(&Bill) -> &[Line]| {
        let places = 0..of(&bills[0]).len();
        let line = |place: usize| {
            row(&of(&bills[0])[place].0, bills.each_ref().map(|bill| dollars(of(bill)[place].1)))
        };
        places.map(line).collect::<String>()
    };
    let sum = |what: &str, of: fn(&Bill) -> f64| {
        row(&format!("**{what}**"), bills.each_ref().map(|bill| format!("**{:.2}**", of(bill))))
    };
    [
        MONTHS_HEADING.to_owned(),
        lines(|bill| &bill.of_requests),
        sum("Requests together", |bill| Bill::sum(&bill.of_requests)),
        lines(|bill| &bill.fixed),
        sum("Together", Bill::total),
    ]
    .concat()
}

fn options() -> String {
    let usual = |requests| Usage::month(requests, COLD_SHARE);
    let with = |what: &str, change: fn(&mut Usage)| {
        let more = MONTHS.map(|requests| {
            let mut changed = usual(requests);
            change(&mut changed);
            format!("{:+.2}", Bill::new(&changed).total() - Bill::new(&usual(requests)).total())
        });
        row(what, more)
    };
    [
        MONTHS_HEADING.to_owned(),
        with("Traces (`Tracing`, off by default)", |usage| usage.tracing = true),
        with("CloudFront and a firewall (`--edge`)", |usage| usage.edge = true),
        with("No cold starts", |usage| usage.cold_share = 0.0),
        with("Ten times as many cold starts", |usage| usage.cold_share *= 10.0),
    ]
    .concat()
}

fn bill_of(day: &Usage) -> String {
    let lines = Bill::new(day).of_requests;
    let total = format!("| **Requests together** | **{:.2}** |", Bill::sum(&lines));
    lines.iter().map(|(what, cost)| row(what, [dollars(*cost)])).collect::<String>() + &total
}

/// Rows with these columns of a CSV table.
fn table<const COLUMNS: usize>(csv: &str, columns: [&str; COLUMNS]) -> String {
    let cells = |line: HashMap<String, String>| columns.map(|column| line[column].clone());
    let lines = rows(csv).into_iter().map(|line| format!("| {} |\n", cells(line).join(" | ")));
    lines.collect()
}
