//! Deployment costs, computed from request sizes (`requests.csv`), other [`measures`] and AWS list
//! prices (`prices.csv`).

pub mod command;
pub mod markdown;
pub mod measures;
#[cfg(test)]
mod tests;

use std::{collections::HashMap, sync::LazyLock};

use ingest::DEFAULT_HISTORY_DAYS;
use serde::{Deserialize, de::DeserializeOwned};

use self::measures::{
    ALARM_METRICS, ALARMS, API_FUNCTIONS, DIFFERENCE_BYTES, EDGE_LOG_BYTES, EDGE_RULES,
    GATEWAY_LOG_BYTES, HISTORY_ITEM_BYTES, IMPORT_MEMORY_MB, IMPORT_METRICS, IMPORT_SECONDS,
    ITEM_BYTES, ITEMS, ITEMS_CHANGED_PER_NIGHT, KEY_AND_MANIFEST_UNITS, KEYED_FUNCTIONS, LOG_BYTES,
    MEMORY_MB, METRIC_FILTERS, PROBE_METRICS, PROBE_REQUESTS, PUBLIC_PROBE_REQUESTS,
    PUBLICATION_BYTES, REQUEST_METRICS, REQUEST_MS, SNAPSHOT_BYTES, START_MS, TABLES_READ,
};

/// Year and region of the prices.
pub const YEAR: u16 = 2026;
pub const REGION: &str = "us-east-1";

/// Days per month on the price pages.
const DAYS: f64 = 30.0;
const SECONDS_PER_DAY: f64 = 86_400.0;
/// Probe runs per month, one every five minutes.
const PROBES: f64 = DAYS * SECONDS_PER_DAY / 300.0;
/// Snapshots in the datasets table: the current one and three older ones.
const SNAPSHOTS: f64 = 4.0;
/// Bytes that DynamoDB adds to each item for billing.
const STORAGE_OVERHEAD: f64 = 100.0;
/// API Gateway counts each started 512 KB as a request.
const BYTES_PER_METERED_REQUEST: f64 = 524_288.0;
/// The share of requests that X-Ray traces by default, beyond one per second.
const TRACED_SHARE: f64 = 0.05;

const PRICES_CSV: &str = include_str!("prices.csv");
const REQUESTS_CSV: &str = include_str!("requests.csv");

#[derive(Debug, Deserialize)]
struct Price {
    name: String,
    /// The number of units that the price is for.
    per: f64,
    /// Dollars, in tiers such as `1 up to 300, then 0.9`.
    dollars: String,
}

fn rows<T: DeserializeOwned>(csv: &str) -> Vec<T> {
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    rows.deserialize().collect::<Result<_, _>>().expect("the embedded tables are valid")
}

static PRICES: LazyLock<Vec<Price>> = LazyLock::new(|| rows(PRICES_CSV));

/// The dollars for `count` units in one month.
fn cost(name: &str, count: f64) -> f64 {
    let price = PRICES.iter().find(|price| price.name == name);
    let price = price.unwrap_or_else(|| panic!("{name} has no price"));
    let number = |text: &str| text.replace(',', "").parse::<f64>().expect("a number");
    let (mut dollars, mut below) = (0.0, 0.0);
    for tier in price.dollars.split(", then ") {
        let (price_in_tier, end) = match tier.split_once(" up to ") {
            Some((price, end)) => (number(price), number(end)),
            None => (number(tier), f64::INFINITY),
        };
        dollars += price_in_tier * ((count / price.per).clamp(below, end) - below);
        below = end;
    }
    dollars
}

/// The group of routes that reject an unknown key.
pub const UNKNOWN_KEY: &str = "all with a key";

/// Typical requests, and the most expensive request for each route.
pub static REQUESTS: LazyLock<Vec<RequestKind>> = LazyLock::new(|| rows(REQUESTS_CSV));

/// A request for sample data, measured in a warm container.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RequestKind {
    pub name: String,
    pub target: String,
    /// The route whose most expensive request this is, or a group of routes.
    pub route: String,
    /// The percentage of typical requests (an assumption).
    share: f64,
    /// The route's API Gateway limit, in requests per second.
    pub rate: f64,
    /// The limit for these requests in a flood without a key, in requests per second.
    pub keyless_rate: f64,
    /// The size of the uncompressed response, including headers.
    pub response_bytes: f64,
    pub read_units: f64,
    /// Billed milliseconds, an upper bound.
    ms: f64,
}

/// API Gateway's total limit in requests per second.
pub fn throttling_rate() -> f64 {
    REQUESTS.iter().map(|kind| kind.rate).sum()
}

/// A deployment's requests in some days.
#[derive(Debug)]
pub struct Usage {
    counts: Vec<f64>,
    /// The share of requests that start a container, from 0 to 1.
    pub cold_share: f64,
    days: f64,
    pub tracing: bool,
    /// `true` with CloudFront and a firewall in front of the API.
    pub edge: bool,
}

impl Usage {
    pub fn month(requests: f64, cold_share: f64) -> Self {
        Self::new(DAYS, cold_share, |kind| requests * kind.share / 100.0)
    }

    /// A day at the request limits, with the most expensive request for each route.
    pub fn worst_day(cold_share: f64) -> Self {
        Self::day(cold_share, |kind| kind.rate)
    }

    /// A day at the request limits without a valid key: public routes send their largest response, and the others
    /// reject an unknown key.
    pub fn flood(cold_share: f64) -> Self {
        Self::day(cold_share, |kind| kind.keyless_rate)
    }

    /// A day of so many requests per second for the largest public file, through CloudFront. At worst, none is cached.
    pub fn edge_flood(rate: f64, cold_share: f64) -> Self {
        let public = REQUESTS.iter().filter(|kind| kind.keyless_rate > 0.0);
        let largest = public.map(|kind| kind.response_bytes).fold(0.0, f64::max);
        let is_sent = |kind: &RequestKind| kind.response_bytes == largest;
        Self { edge: true, ..Self::day(cold_share, |kind| rate * f64::from(is_sent(kind))) }
    }

    /// A day of so many requests per second with unknown keys, through CloudFront.
    pub fn edge_unknown_keys(rate: f64, cold_share: f64) -> Self {
        let is_sent = |kind: &RequestKind| kind.route == UNKNOWN_KEY;
        Self { edge: true, ..Self::day(cold_share, |kind| rate * f64::from(is_sent(kind))) }
    }

    fn day(cold_share: f64, rate: impl Fn(&RequestKind) -> f64) -> Self {
        Self::new(1.0, cold_share, |kind| rate(kind) * SECONDS_PER_DAY)
    }

    fn new(days: f64, cold_share: f64, count: impl Fn(&RequestKind) -> f64) -> Self {
        let counts = REQUESTS.iter().map(count).collect();
        Self { counts, cold_share, days, tracing: false, edge: false }
    }

    pub fn requests(&self) -> f64 {
        self.total(|_| 1.0)
    }

    fn total(&self, field: impl Fn(&RequestKind) -> f64) -> f64 {
        self.counts.iter().zip(REQUESTS.iter()).map(|(count, kind)| count * field(kind)).sum()
    }
}

/// A price's name, and how many of its units are used.
type Amount = (&'static str, f64);

/// A billed item with its amounts.
type Item = (String, Vec<Amount>);

/// A billed item and its price in dollars.
pub type Line = (String, f64);

/// Costs that depend on the number of requests, and fixed costs.
#[derive(Debug)]
pub struct Bill {
    pub for_requests: Vec<Line>,
    pub fixed: Vec<Line>,
}

impl Bill {
    pub fn new(usage: &Usage) -> Self {
        let (for_requests, fixed) = (for_requests(usage), fixed(usage));
        // Tiers apply to the total of all items with the same price.
        let mut totals = HashMap::<&str, f64>::new();
        for (price, count) in for_requests.iter().chain(&fixed).flat_map(|(_, amounts)| amounts) {
            *totals.entry(price).or_default() += count;
        }
        let dollars = |(price, count): Amount| {
            let total = totals[price].max(f64::MIN_POSITIVE);
            cost(price, total) * count / total
        };
        let line = |(what, amounts): Item| (what, amounts.into_iter().map(dollars).sum());
        let lines = |items: Vec<Item>| items.into_iter().map(line).collect();
        Self { for_requests: lines(for_requests), fixed: lines(fixed) }
    }

    pub fn sum(lines: &[Line]) -> f64 {
        lines.iter().map(|(_, dollars)| dollars).sum()
    }

    pub fn total(&self) -> f64 {
        Self::sum(&self.for_requests) + Self::sum(&self.fixed)
    }

    /// All lines and totals, with `true` for totals.
    fn lines(&self) -> Vec<(&str, f64, bool)> {
        let requests = ("Total for requests", Self::sum(&self.for_requests), true);
        let line = |line| {
            let (what, dollars): &Line = line;
            (what.as_str(), *dollars, false)
        };
        let fixed = self.fixed.iter().map(line).chain([("Total", self.total(), true)]);
        self.for_requests.iter().map(line).chain([requests]).chain(fixed).collect()
    }
}

fn gb_seconds(memory_mb: f64, seconds: f64) -> f64 {
    memory_mb / 1024.0 * seconds
}

fn for_requests(usage: &Usage) -> Vec<Item> {
    let requests = usage.requests();
    let starts = requests * usage.cold_share;
    let seconds = |ms: f64| gb_seconds(MEMORY_MB, ms / 1000.0);
    let start_units = snapshot_read_units(SNAPSHOT_BYTES) + KEY_AND_MANIFEST_UNITS;
    let logs = |bytes: u32| requests * f64::from(bytes);
    let metered = usage.total(|kind| (kind.response_bytes / BYTES_PER_METERED_REQUEST).ceil());
    let data = usage.total(|kind| kind.response_bytes);
    let mut lines = vec![
        ("API Gateway", ("api_requests", metered)),
        ("Lambda, requests", ("lambda_requests", requests)),
        ("Lambda, request time", ("lambda_time", seconds(usage.total(|kind| kind.ms)))),
        ("Lambda, cold start time", ("lambda_time", seconds(starts * START_MS))),
        ("DynamoDB, reads for requests", ("read_units", usage.total(|kind| kind.read_units))),
        ("DynamoDB, reads for cold starts", ("read_units", starts * start_units)),
        ("KMS, cold starts", ("kms_requests", starts * TABLES_READ)),
        ("Logs from functions", ("logs", logs(LOG_BYTES))),
        ("Logs from API Gateway", ("logs", logs(GATEWAY_LOG_BYTES))),
    ];
    if usage.tracing {
        let traces = requests * TRACED_SHARE + usage.days * SECONDS_PER_DAY;
        lines.push(("X-Ray", ("traces", traces.min(requests))));
    }
    if usage.edge {
        // Data from the API to CloudFront is free.
        lines.extend([
            ("CloudFront, requests", ("edge_requests", requests)),
            ("CloudFront, data transfer out", ("edge_data_out", data)),
            ("Logs from CloudFront", ("logs", logs(EDGE_LOG_BYTES))),
            ("Firewall, requests", ("firewall_requests", requests)),
        ]);
    } else {
        lines.push(("Data transfer out", ("data_out", data)));
    }
    lines.into_iter().map(|(what, amount)| (what.to_owned(), vec![amount])).collect()
}

fn fixed(usage: &Usage) -> Vec<Item> {
    let metrics = API_FUNCTIONS * REQUEST_METRICS + IMPORT_METRICS + PROBE_METRICS + METRIC_FILTERS;
    let checks =
        container_checks().map(|(price, count)| (price, count * f64::from(KEYED_FUNCTIONS)));
    let alarms = format!("{ALARMS} alarms on {ALARM_METRICS} metrics");
    let mut items = vec![
        (format!("{metrics} metrics"), vec![("metrics", metrics.into())]),
        (alarms, vec![("alarm_metrics", ALARM_METRICS.into())]),
        ("Dashboard".to_owned(), vec![("dashboards", 1.0)]),
        ("Checks of the key and the manifest".to_owned(), checks.into()),
        ("Nightly import".to_owned(), imports()),
        ("Storage and backups".to_owned(), storage()),
        ("Probe every five minutes".to_owned(), probes()),
    ];
    if usage.edge {
        let firewall = vec![("firewalls", 1.0), ("firewall_rules", EDGE_RULES.into())];
        items.push((format!("Firewall with {EDGE_RULES} rules"), firewall));
    }
    for (_, count) in items.iter_mut().flat_map(|(_, amounts)| amounts) {
        *count *= usage.days / DAYS;
    }
    items
}

/// One month of a busy container, which reads its key and the manifest every minute.
fn container_checks() -> [Amount; 2] {
    let minutes = DAYS * SECONDS_PER_DAY / 60.0;
    [
        ("read_units", minutes * KEY_AND_MANIFEST_UNITS),
        ("kms_requests", minutes / 5.0 * TABLES_READ),
    ]
}

/// One month of imports: compute time, reading all items, and writing changed items, their history
/// and a snapshot.
fn imports() -> Vec<Amount> {
    let changed = f64::from(ITEMS_CHANGED_PER_NIGHT);
    let items_read = f64::from(ITEMS) * f64::from(ITEM_BYTES) / 4096.0;
    // Verification reads the whole history, the differences at half the cost.
    let night = changed * f64::from(HISTORY_ITEM_BYTES)
        + f64::from(DIFFERENCE_BYTES) / 2.0
        + f64::from(2 * PUBLICATION_BYTES);
    let history_read = f64::from(DEFAULT_HISTORY_DAYS) * night / 4096.0;
    let reads = items_read + history_read + 2.0 * snapshot_read_units(SNAPSHOT_BYTES);
    // An item and a change in the history take one unit each.
    let writes = 2.0 * changed + f64::from(SNAPSHOT_BYTES + DIFFERENCE_BYTES) / 1024.0;
    vec![
        ("lambda_time", gb_seconds(IMPORT_MEMORY_MB, DAYS * IMPORT_SECONDS)),
        ("read_units", DAYS * reads),
        ("write_units", DAYS * writes),
    ]
}

/// One month of storing items, snapshots and a full history, including point-in-time recovery.
fn storage() -> Vec<Amount> {
    let items = f64::from(ITEMS) * (f64::from(ITEM_BYTES) + STORAGE_OVERHEAD);
    let changes =
        f64::from(ITEMS_CHANGED_PER_NIGHT) * (f64::from(HISTORY_ITEM_BYTES) + STORAGE_OVERHEAD);
    // Each publication has a copy.
    let night = changes + f64::from(DIFFERENCE_BYTES + 2 * PUBLICATION_BYTES);
    let history = f64::from(DEFAULT_HISTORY_DAYS) * night;
    let bytes = items + SNAPSHOTS * f64::from(SNAPSHOT_BYTES) + history;
    vec![("storage", bytes), ("backup", bytes)]
}

/// One month of probe runs, with requests as large as typical ones.
fn probes() -> Vec<Amount> {
    let requests = PROBES * f64::from(PROBE_REQUESTS);
    let invocations = requests + PROBES;
    // The probe waits for all its requests.
    let seconds = 2.0 * requests * REQUEST_MS / 1000.0;
    vec![
        ("api_requests", PROBES * f64::from(PUBLIC_PROBE_REQUESTS)),
        ("lambda_requests", invocations),
        ("lambda_time", gb_seconds(MEMORY_MB, seconds)),
        ("read_units", Usage::month(requests, 0.0).total(|kind| kind.read_units)),
        ("logs", invocations * f64::from(LOG_BYTES)),
    ]
}

/// Read units for a snapshot. Each chunk is rounded up to 4 KB, and eventually consistent reads
/// cost half.
pub fn snapshot_read_units(bytes: u32) -> f64 {
    const CHUNK: u32 = store::CHUNK_BYTES as u32;
    let sizes = (0..bytes).step_by(store::CHUNK_BYTES).map(|start| (bytes - start).min(CHUNK));
    sizes.map(|size| f64::from(size.div_ceil(4096)) / 2.0).sum()
}
