//! The page docs/COSTS.md: text from `page.txt`, and computed tables.

use std::collections::HashMap;

use indicatif::HumanCount;

use super::{
    BYTES_PER_METERED_REQUEST, Bill, PRICES_CSV, REGION, REQUESTS_CSV, Usage, YEAR,
    container_checks, cost,
    measures::{
        EDGE_ADDRESS_RATE, EDGE_KEYLESS_RATE, EDGE_LOG_BYTES, FIREWALL_LOG_BYTES, ITEM_BYTES,
        ITEMS, REQUEST_MS, SNAPSHOT_BYTES, START_MS,
    },
    rows, snapshot_read_units, throttling_rate,
};

const MONTHS: [f64; 3] = [1e6, 1e7, 1e8];
/// The share of requests that start a container.
const COLD_SHARE: f64 = 0.01;
const GB: f64 = 1_073_741_824.0;

pub fn document() -> String {
    let day = Usage::worst_day(COLD_SHARE);
    let flood = Usage::flood(COLD_SHARE);
    let gigabytes = |usage: &Usage| count(usage.total(|kind| kind.response_bytes) / GB);
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
            table(REQUESTS_CSV, "name share route rate keyless_rate response_bytes read_units ms"),
        ),
        ("request_ms", REQUEST_MS.to_string()),
        ("start_ms", START_MS.to_string()),
        ("cold_share", (COLD_SHARE * 100.0).to_string()),
        ("snapshot_mb", dollars(f64::from(SNAPSHOT_BYTES) / 1e6)),
        ("snapshot_units", snapshot_read_units(SNAPSHOT_BYTES).to_string()),
        ("rate", count(throttling_rate())),
        ("day_requests", (day.requests() / 1e6).round().to_string()),
        ("day_gb", gigabytes(&day)),
        ("day", day_rows(&day)),
        ("flood_gb", gigabytes(&flood)),
        ("flood", day_rows(&flood)),
        ("uploaded_tb", dollars(cost("api_requests", 1024.0 * GB / BYTES_PER_METERED_REQUEST))),
        ("keyless_rate", EDGE_KEYLESS_RATE.to_string()),
        ("keyless_day", day_at_the_edge(Usage::edge_flood(EDGE_KEYLESS_RATE, COLD_SHARE))),
        ("address_rate", EDGE_ADDRESS_RATE.to_string()),
        ("address_day", day_at_the_edge(Usage::edge_unknown_keys(EDGE_ADDRESS_RATE, COLD_SHARE))),
        ("blocked", dollars(cost("firewall_requests", 1e6))),
        ("blocked_logs", dollars(cost("logs", blocked_log_bytes))),
        ("writes", dollars(cost("write_units", 1e6))),
        ("items", count(ITEMS.into())),
        ("first_import", dollars(cost("write_units", import_writes))),
        ("container_check_cost", dollars(checks.iter().sum())),
        ("prices", table(PRICES_CSV, "what dollars unit source")),
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

fn row(name: &str, cells: &[String], is_bold: bool) -> String {
    let style = if is_bold { "**" } else { "" };
    let cells = cells.join(&format!("{style} | {style}"));
    format!("| {style}{name}{style} | {style}{cells}{style} |\n")
}

fn months() -> String {
    let bills = MONTHS.map(|requests| Bill::new(&Usage::month(requests, COLD_SHARE)));
    let lines = bills.each_ref().map(Bill::lines);
    let rows = (0..lines[0].len()).map(|index| {
        let (name, _, is_total) = lines[0][index];
        row(name, &lines.each_ref().map(|lines| dollars(lines[index].1)), is_total)
    });
    rows.collect()
}

/// The lines for requests, with their total.
fn day_rows(day: &Usage) -> String {
    let bill = Bill::new(day);
    let lines = bill.lines().into_iter().take(bill.for_requests.len() + 1);
    lines.map(|(what, cost, is_total)| row(what, &[dollars(cost)], is_total)).collect()
}

/// Renders these columns of a CSV table.
fn table(csv: &str, columns: &str) -> String {
    let cells = |line: &HashMap<String, String>| -> Vec<String> {
        columns.split(' ').map(|column| line[column].clone()).collect()
    };
    let lines = rows(csv);
    lines.iter().map(|line| format!("| {} |\n", cells(line).join(" | "))).collect()
}
