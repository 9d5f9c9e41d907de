//! The page docs/COSTS.md: text from `page.txt`, and computed tables.

use std::collections::HashMap;

use indicatif::HumanCount;

use shared::past::price_of_units;

use super::{
    Bill, METERED_BYTES, PRICES_CSV, REGION, REQUESTS_CSV, Usage, YEAR, container_checks, cost,
    measures::{
        EDGE_ADDRESS_RATE, EDGE_KEYLESS_RATE, EDGE_LOG_BYTES, FIREWALL_LOG_BYTES, ITEM_BYTES,
        ITEMS, ITEMS_CHANGED_PER_NIGHT, LOG_BYTES, PAST_REQUESTS, REQUEST_MS, SNAPSHOT_BYTES,
        START_MS,
    },
    publication_units, rows, snapshot_read_units, throttling_rate,
};

const MONTHS: [f64; 3] = [1e6, 1e7, 1e8];
const MONTHS_HEADING: &str =
    "| Requests per month | 1 million | 10 million | 100 million |\n|---|---:|---:|---:|\n";
/// The share of requests that start a container.
const COLD_SHARE: f64 = 0.01;
const GB: f64 = 1_073_741_824.0;

pub fn document() -> String {
    let day = Usage::worst_day(COLD_SHARE);
    let flood = Usage::flood(COLD_SHARE);
    let day_at_the_edge = |usage: Usage| count(Bill::sum(&Bill::new(&usage).for_requests));
    let blocked_log_bytes = 1e6 * f64::from(EDGE_LOG_BYTES + FIREWALL_LOG_BYTES);
    let checks = container_checks().map(|(price, count)| cost(price, count));
    let import_writes = f64::from(ITEMS) * f64::from(ITEM_BYTES.div_ceil(1024));
    let values = [
        ("region", REGION.to_owned()),
        ("year", YEAR.to_string()),
        ("months", months()),
        (
            "requests",
            table(
                REQUESTS_CSV,
                [
                    "name",
                    "share",
                    "route",
                    "rate",
                    "keyless_rate",
                    "response_bytes",
                    "read_units",
                    "ms",
                ],
            ),
        ),
        ("log_bytes", LOG_BYTES.to_string()),
        ("request_ms", REQUEST_MS.to_string()),
        ("start_ms", START_MS.to_string()),
        ("cold_share", (COLD_SHARE * 100.0).to_string()),
        ("snapshot_mb", dollars(f64::from(SNAPSHOT_BYTES) / 1e6)),
        ("snapshot_units", snapshot_read_units(SNAPSHOT_BYTES).to_string()),
        ("changes_per_night", count(ITEMS_CHANGED_PER_NIGHT.into())),
        ("past", past()),
        ("publication_units", count(publication_units())),
        ("options", options()),
        ("rate", count(throttling_rate())),
        ("day_requests", (day.requests / 1e6).round().to_string()),
        ("day_gb", count(day.requests * day.request.response_bytes / GB)),
        ("day", day_rows(&day)),
        ("flood_gb", count(flood.requests * flood.request.response_bytes / GB)),
        ("flood", day_rows(&flood)),
        ("uploaded_tb", dollars(cost("api_requests", 1024.0 * GB / METERED_BYTES))),
        ("keyless_rate", EDGE_KEYLESS_RATE.to_string()),
        ("keyless_day", day_at_the_edge(Usage::edge_flood(EDGE_KEYLESS_RATE, COLD_SHARE))),
        ("address_rate", EDGE_ADDRESS_RATE.to_string()),
        ("address_day", day_at_the_edge(Usage::edge_unknown_keys(EDGE_ADDRESS_RATE, COLD_SHARE))),
        ("blocked", dollars(cost("firewall_requests", 1e6))),
        ("blocked_logs", dollars(cost("logs", blocked_log_bytes))),
        ("firewall_log_bytes", count(FIREWALL_LOG_BYTES.into())),
        ("writes", dollars(cost("write_units", 1e6))),
        ("items", count(ITEMS.into())),
        ("first_import", dollars(cost("write_units", import_writes))),
        ("container_check_cost", dollars(checks.iter().sum())),
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

fn row<const COLUMNS: usize>(name: &str, cells: [String; COLUMNS], is_bold: bool) -> String {
    let style = if is_bold { "**" } else { "" };
    format!(
        "| {style}{name}{style} | {style}{}{style} |\n",
        cells.join(&format!("{style} | {style}"))
    )
}

fn months() -> String {
    let [first, second, third] =
        MONTHS.map(|requests| Bill::new(&Usage::month(requests, COLD_SHARE)).lines());
    let mut table = MONTHS_HEADING.to_owned();
    for (((line, is_total), (second, _)), (third, _)) in first.zip(second).zip(third) {
        table += &row(&line.0, [line.1, second.1, third.1].map(dollars), is_total);
    }
    table
}

fn past() -> String {
    let line = |(name, units): &(&str, f64)| {
        format!("| {name} | {units} | {} |\n", price_of_units(*units))
    };
    PAST_REQUESTS.iter().map(line).collect()
}

fn options() -> String {
    let with = |what: &str, change: fn(&mut Usage)| {
        let differences = MONTHS.map(|requests| {
            let usage = Usage::month(requests, COLD_SHARE);
            let mut changed = usage;
            change(&mut changed);
            format!("{:+.2}", Bill::new(&changed).total() - Bill::new(&usage).total())
        });
        row(what, differences, false)
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

/// The lines for requests, with their total.
fn day_rows(day: &Usage) -> String {
    let bill = Bill::new(day);
    let count = bill.for_requests.len() + 1;
    let rows = bill.lines().take(count);
    rows.map(|((what, cost), is_total)| row(&what, [dollars(cost)], is_total)).collect()
}

/// Renders these columns of a CSV table.
fn table<const COLUMNS: usize>(csv: &str, columns: [&str; COLUMNS]) -> String {
    let cells = |line: HashMap<String, String>| columns.map(|column| line[column].clone());
    let lines = rows(csv).into_iter().map(|line| format!("| {} |\n", cells(line).join(" | ")));
    lines.collect()
}
