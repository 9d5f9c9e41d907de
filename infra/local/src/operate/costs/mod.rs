//! Deployment costs, computed from request sizes (`requests.csv`), other [`measures`] and AWS list
//! prices (`prices.csv`).

pub mod command;
pub mod markdown;
pub mod measures;

use std::sync::LazyLock;

use ingest::DEFAULT_HISTORY_DAYS;
use serde::{Deserialize, de::DeserializeOwned};

use self::measures::{
    ALARM_METRICS, ALARMS, API_FUNCTIONS, DIFFERENCE_BYTES, EDGE_LOG_BYTES, EDGE_RULES,
    GATEWAY_LOG_BYTES, HISTORY_ITEM_BYTES, IMPORT_MEMORY_MB, IMPORT_METRICS, IMPORT_SECONDS,
    ITEM_BYTES, ITEMS, ITEMS_CHANGED_PER_NIGHT, KEY_AND_MANIFEST_UNITS, KEYED_FUNCTIONS, LOG_BYTES,
    MEMORY_MB, METRIC_FILTERS, PLATFORM_LOG_BYTES, PROBE_METRICS, PROBE_REQUESTS,
    PUBLIC_PROBE_REQUESTS, PUBLICATION_BYTES, REQUEST_METRICS, REQUEST_MS, SNAPSHOT_BYTES,
    START_LOG_BYTES, START_MS, UNKNOWN_KEY_UNITS,
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

impl Price {
    /// The dollars for `count` units in one month.
    fn cost(&self, count: f64) -> f64 {
        let number = |text: &str| text.replace(',', "").parse::<f64>().expect("a number");
        let (mut dollars, mut below) = (0.0, 0.0);
        for tier in self.dollars.split(", then ") {
            let (price, end) = match tier.split_once(" up to ") {
                Some((price, end)) => (number(price), number(end)),
                None => (number(tier), f64::INFINITY),
            };
            dollars += price * (count / self.per).clamp(below, end) - price * below;
            below = end;
        }
        dollars
    }
}

fn rows<T: DeserializeOwned>(csv: &str) -> Vec<T> {
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    rows.deserialize().collect::<Result<_, _>>().expect("the embedded tables are valid")
}

static PRICES: LazyLock<Vec<Price>> = LazyLock::new(|| rows(PRICES_CSV));

/// Typical requests, and the most expensive request for each route.
pub static REQUESTS: LazyLock<Vec<RequestKind>> = LazyLock::new(|| rows(REQUESTS_CSV));

/// The dollars for `count` units in one month.
fn cost(name: &str, count: f64) -> f64 {
    let price = PRICES.iter().find(|price| price.name == name);
    price.unwrap_or_else(|| panic!("{name} has no price")).cost(count)
}

/// A request for sample data, measured in a warm container.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RequestKind {
    pub name: String,
    pub target: String,
    /// The route whose most expensive request this is; `others` for routes without a row.
    pub route: String,
    /// The percentage of typical requests (an assumption).
    share: f64,
    /// The route's API Gateway limit, in requests per second.
    pub rate: f64,
    /// The size of the uncompressed response, including headers.
    pub response_bytes: f64,
    pub read_units: f64,
    /// Billed milliseconds, an upper bound.
    ms: f64,
}

/// The average request in a month or day.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    response_bytes: f64,
    read_units: f64,
    ms: f64,
}

impl Request {
    fn average(weight: impl Fn(&RequestKind) -> f64) -> Self {
        let total = REQUESTS.iter().map(&weight).sum::<f64>();
        let average = |field: fn(&RequestKind) -> f64| {
            REQUESTS.iter().map(|kind| weight(kind) * field(kind)).sum::<f64>() / total
        };
        Self {
            response_bytes: average(|kind| kind.response_bytes),
            read_units: average(|kind| kind.read_units),
            ms: average(|kind| kind.ms),
        }
    }

    fn typical() -> Self {
        Self::average(|kind| kind.share)
    }
}

/// API Gateway's total limit in requests per second.
pub fn throttling_rate() -> f64 {
    REQUESTS.iter().map(|kind| kind.rate).sum()
}

#[derive(Debug, Clone, Copy)]
pub struct Usage {
    pub requests: f64,
    /// The share of requests that start a container, from 0 to 1.
    pub cold_share: f64,
    pub days: f64,
    pub request: Request,
    pub tracing: bool,
    /// `true` with CloudFront and a firewall in front of the API.
    pub edge: bool,
}

impl Usage {
    pub fn month(requests: f64, cold_share: f64) -> Self {
        let request = Request::typical();
        Self { requests, cold_share, days: DAYS, request, tracing: false, edge: false }
    }

    /// A day at the request limits, with the most expensive request for each route, always with an
    /// unknown key.
    pub fn worst_day(cold_share: f64) -> Self {
        let requests = throttling_rate() * SECONDS_PER_DAY;
        let request = Request::average(|kind| kind.rate);
        let request = Request { read_units: request.read_units + UNKNOWN_KEY_UNITS, ..request };
        Self { days: 1.0, request, ..Self::month(requests, cold_share) }
    }
}

/// A billed item and its price in dollars.
pub type Line = (String, f64);

/// Costs that depend on the number of requests, and fixed costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Bill {
    pub for_requests: Vec<Line>,
    pub fixed: Vec<Line>,
}

impl Bill {
    pub fn new(usage: &Usage) -> Self {
        Self { for_requests: request_lines(usage), fixed: fixed_lines(usage) }
    }

    pub fn sum(lines: &[Line]) -> f64 {
        lines.iter().map(|(_, dollars)| dollars).sum()
    }

    pub fn total(&self) -> f64 {
        Self::sum(&self.for_requests) + Self::sum(&self.fixed)
    }

    /// All lines and totals, with `true` for totals.
    fn lines(self) -> impl Iterator<Item = (Line, bool)> {
        let requests = ("Total for requests".to_owned(), Self::sum(&self.for_requests));
        let total = ("Total".to_owned(), self.total());
        let line = |line| (line, false);
        self.for_requests
            .into_iter()
            .map(line)
            .chain([(requests, true)])
            .chain(self.fixed.into_iter().map(line))
            .chain([(total, true)])
    }
}

fn gb_seconds(memory_mb: f64, seconds: f64) -> f64 {
    memory_mb / 1024.0 * seconds
}

fn request_lines(usage: &Usage) -> Vec<Line> {
    let Usage { requests, cold_share, request, .. } = *usage;
    let starts = requests * cold_share;
    let gb_seconds = |count: f64, ms: f64| gb_seconds(MEMORY_MB, count * ms / 1000.0);
    let start_units = snapshot_read_units(SNAPSHOT_BYTES) + KEY_AND_MANIFEST_UNITS;
    let platform_bytes =
        requests * f64::from(PLATFORM_LOG_BYTES) + starts * f64::from(START_LOG_BYTES);
    let logs = |bytes: u32| requests * f64::from(bytes);
    let data = requests * request.response_bytes;
    let mut lines = vec![
        ("API Gateway", "api_requests", requests),
        ("Lambda, requests", "lambda_requests", requests),
        ("Lambda, request time", "lambda_time", gb_seconds(requests, request.ms)),
        ("Lambda, cold start time", "lambda_time", gb_seconds(starts, START_MS)),
        ("DynamoDB, reads for requests", "read_units", requests * request.read_units),
        ("DynamoDB, reads for cold starts", "read_units", starts * start_units),
        ("Logs from functions", "logs", logs(LOG_BYTES)),
        ("Logs from Lambda", "logs", platform_bytes),
        ("Logs from API Gateway", "logs", logs(GATEWAY_LOG_BYTES)),
    ];
    if !usage.edge {
        lines.push(("Data transfer out", "data_out", data));
    }
    if usage.tracing {
        let traces = requests * TRACED_SHARE + usage.days * SECONDS_PER_DAY;
        lines.push(("X-Ray", "traces", traces.min(requests)));
    }
    if usage.edge {
        // Data from the API to CloudFront is free.
        lines.extend([
            ("CloudFront, requests", "edge_requests", requests),
            ("CloudFront, data transfer out", "edge_data_out", data),
            ("Logs from CloudFront", "logs", logs(EDGE_LOG_BYTES)),
            ("Firewall, requests", "firewall_requests", requests),
        ]);
    }
    lines.into_iter().map(|(what, price, count)| (what.to_owned(), cost(price, count))).collect()
}

fn fixed_lines(usage: &Usage) -> Vec<Line> {
    let metrics = API_FUNCTIONS * REQUEST_METRICS + IMPORT_METRICS + PROBE_METRICS + METRIC_FILTERS;
    let alarms = format!("{ALARMS} alarms on {ALARM_METRICS} metrics");
    let checks = f64::from(KEYED_FUNCTIONS) * container_check_cost();
    let mut lines = vec![
        (format!("{metrics} metrics"), cost("metrics", metrics.into())),
        (alarms, cost("alarm_metrics", ALARM_METRICS.into())),
        ("Dashboard".to_owned(), cost("dashboards", 1.0)),
        ("One read of the key and the manifest per minute".to_owned(), checks),
        ("Nightly import".to_owned(), imports()),
        ("Storage and backups".to_owned(), storage()),
        ("Probe every five minutes".to_owned(), probes()),
    ];
    if usage.edge {
        let firewall = cost("firewalls", 1.0) + cost("firewall_rules", EDGE_RULES.into());
        lines.push((format!("Firewall with {EDGE_RULES} rules"), firewall));
    }
    let prorated = |(what, dollars)| (what, dollars * usage.days / DAYS);
    lines.into_iter().map(prorated).collect()
}

/// Monthly cost of a busy container that reads its key and the manifest every minute.
fn container_check_cost() -> f64 {
    cost("read_units", DAYS * SECONDS_PER_DAY / 60.0 * KEY_AND_MANIFEST_UNITS)
}

/// Monthly cost of imports: compute time, reading all items, and writing changed items, their history
/// and a snapshot.
fn imports() -> f64 {
    let items_read = f64::from(ITEMS) * f64::from(ITEM_BYTES) / 4096.0;
    // Verification reads the whole history, the differences at half the cost.
    let night = f64::from(ITEMS_CHANGED_PER_NIGHT) * f64::from(HISTORY_ITEM_BYTES)
        + f64::from(DIFFERENCE_BYTES) / 2.0
        + f64::from(2 * PUBLICATION_BYTES);
    let history_read = f64::from(DEFAULT_HISTORY_DAYS) * night / 4096.0;
    let reads = items_read + history_read + 2.0 * snapshot_read_units(SNAPSHOT_BYTES);
    // An item and a change in the history take one unit each.
    let writes = 2.0 * f64::from(ITEMS_CHANGED_PER_NIGHT)
        + f64::from(SNAPSHOT_BYTES + DIFFERENCE_BYTES) / 1024.0;
    cost("lambda_time", gb_seconds(IMPORT_MEMORY_MB, DAYS * IMPORT_SECONDS))
        + cost("read_units", DAYS * reads)
        + cost("write_units", DAYS * writes)
}

/// Read units for the publications of a full history, eventually consistent.
fn publication_units() -> f64 {
    let bytes = f64::from(DEFAULT_HISTORY_DAYS) * f64::from(PUBLICATION_BYTES);
    (bytes / 4096.0).ceil() / 2.0
}

/// Monthly cost of storing items, snapshots and a full history, including point-in-time recovery.
fn storage() -> f64 {
    let items = f64::from(ITEMS) * (f64::from(ITEM_BYTES) + STORAGE_OVERHEAD);
    let changes =
        f64::from(ITEMS_CHANGED_PER_NIGHT) * (f64::from(HISTORY_ITEM_BYTES) + STORAGE_OVERHEAD);
    // Each publication has a copy.
    let night = changes + f64::from(DIFFERENCE_BYTES + 2 * PUBLICATION_BYTES);
    let history = f64::from(DEFAULT_HISTORY_DAYS) * night;
    let bytes = items + SNAPSHOTS * f64::from(SNAPSHOT_BYTES) + history;
    cost("storage", bytes) + cost("backup", bytes)
}

/// Monthly cost of probe runs, with requests as large as typical ones.
fn probes() -> f64 {
    let read_units = Request::typical().read_units;
    let requests = PROBES * f64::from(PROBE_REQUESTS);
    let invocations = requests + PROBES;
    // The probe waits for all its requests.
    let seconds = 2.0 * requests * REQUEST_MS / 1000.0;
    cost("api_requests", PROBES * f64::from(PUBLIC_PROBE_REQUESTS))
        + cost("lambda_requests", invocations)
        + cost("lambda_time", gb_seconds(MEMORY_MB, seconds))
        + cost("read_units", requests * read_units)
        + cost("logs", invocations * f64::from(LOG_BYTES + PLATFORM_LOG_BYTES))
}

/// Read units for a snapshot. Each chunk is rounded up to 4 KB, and eventually consistent reads
/// cost half.
pub fn snapshot_read_units(bytes: u32) -> f64 {
    const CHUNK: u32 = store::CHUNK_BYTES as u32;
    let sizes = (0..bytes).step_by(store::CHUNK_BYTES).map(|start| (bytes - start).min(CHUNK));
    sizes.map(|size| f64::from(size.div_ceil(4096)) / 2.0).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_above_a_tier_cost_the_next_price() {
        const GB: f64 = 1_073_741_824.0;
        for (name, count, dollars) in [
            ("api_requests", 1e6, 1.0),
            ("api_requests", 301e6, 300.9),
            ("data_out", 100.0 * GB, 0.0),
            ("data_out", 101.0 * GB, 0.09),
            ("data_out", 10_341.0 * GB, 10_240.0 * 0.09 + 0.085),
        ] {
            assert!((cost(name, count) - dollars).abs() < 1e-6, "{name} {count}");
        }
    }

    #[test]
    fn shares_add_up_to_100_percent() {
        assert_eq!(REQUESTS.iter().map(|kind| kind.share).sum::<f64>(), 100.0);
    }

    #[test]
    fn snapshot_chunks_are_rounded_up_to_4_kb() {
        assert_eq!(snapshot_read_units(4097), 1.0);
        assert_eq!(snapshot_read_units(390_001), 48.0 + 0.5);
    }
}
