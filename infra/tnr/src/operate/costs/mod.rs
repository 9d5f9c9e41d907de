//! The `costs` command: a deployment's bill, computed from request sizes (`requests.csv`), other sizes and counts
//! (`measures.csv`), and AWS list prices (`prices.csv`).

#[cfg(test)]
mod tests;

use std::{collections::HashMap, sync::LazyLock};

use clap::{Args, ValueEnum};
use indicatif::HumanCount;
use ingest::DEFAULT_HISTORY_DAYS;
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    CliError,
    terminal::{self, width, wrap},
};

#[derive(Debug, Args)]
pub struct CostsArgs {
    /// Requests per month
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    pub requests: u64,
    /// Percentage of requests that start a container
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = percentage)]
    pub cold: f64,
    /// Include CloudFront and a firewall in front of the API
    #[arg(long)]
    pub edge: bool,
    /// The deployment's parameter `Monitoring`
    #[arg(long, value_enum, default_value_t)]
    pub monitoring: Monitoring,
    /// Estimate one day at the deployment's request limits, with the most expensive requests and with
    /// a flood without a key; not available with --edge
    #[arg(long, conflicts_with_all = ["requests", "edge", "monitoring"])]
    pub worst_case: bool,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum Monitoring {
    #[default]
    Full,
    Essential,
    None,
}

impl Monitoring {
    /// The numbers of metrics, alarms, metrics that alarms evaluate, and dashboards. AWS bills alarms per metric.
    fn counts(self) -> [f64; 4] {
        let functions = measure("api_functions");
        let others = ["import_metrics", "probe_metrics", "metric_filters"].map(measure);
        let all = functions * measure("request_metrics") + others.iter().sum::<f64>();
        match self {
            Self::Full => [all, 24.0, 62.0, 1.0],
            // Each API function's errors, and the probe's.
            Self::Essential => [functions + 1.0, 10.0, 25.0, 0.0],
            Self::None => [0.0; 4],
        }
    }
}

fn percentage(text: &str) -> Result<f64, String> {
    let is_valid = |percentage: &f64| (0.0..=100.0).contains(percentage);
    text.parse().ok().filter(is_valid).ok_or_else(|| "must be a number from 0 to 100".to_owned())
}

const DAYS: f64 = 30.0;
const SECONDS_PER_DAY: f64 = 86_400.0;
/// Probe runs per month: one every five minutes.
const PROBES: f64 = DAYS * SECONDS_PER_DAY / 300.0;
/// Snapshots in the dataset table: the current one and three older ones.
const SNAPSHOTS: f64 = 4.0;
/// The number of bytes that DynamoDB adds to each item for billing.
const STORAGE_OVERHEAD: f64 = 100.0;
/// API Gateway counts every 512 KB as a request, rounded up.
const BYTES_PER_METERED_REQUEST: f64 = 524_288.0;

pub fn print(args: &CostsArgs) -> Result<(), CliError> {
    let cold_share = args.cold / 100.0;
    let bills = if args.worst_case {
        vec![
            ("A day", Usage::worst_day(cold_share)),
            ("A day without a key,", Usage::flood(cold_share)),
        ]
    } else {
        let month = Usage::month(args.requests as f64, cold_share);
        vec![("A month", Usage { has_edge: args.edge, monitoring: args.monitoring, ..month })]
    };
    let bills = bills.iter().map(|(span, usage)| {
        let heading = format!(
            "{span} with {} requests, {}% of which start a container; US dollars, us-east-1, 2026 list \
             prices, no free tier except 100 GB of data transfer out",
            HumanCount(usage.requests() as u64),
            args.cold,
        );
        let lines = bill(usage).into_iter();
        let lines = lines.map(|(what, dollars)| format!("  {what:<48}{dollars:>12.2}\n"));
        wrap(&heading, width(), 0) + "\n" + &lines.collect::<String>()
    });
    terminal::print_raw(&bills.collect::<Vec<_>>().join("\n"))
}

fn rows<T: DeserializeOwned>(csv: &str) -> Vec<T> {
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    rows.deserialize().collect::<Result<_, _>>().expect("the embedded tables are valid")
}

static MEASURES: LazyLock<HashMap<String, f64>> = LazyLock::new(|| {
    let rows = rows::<(String, f64, String)>(include_str!("measures.csv")).into_iter();
    rows.map(|(name, value, _)| (name, value)).collect()
});

/// A size or count that determines the costs. Tests compare them with the template and with measured requests, starts
/// and imports.
pub fn measure(name: &str) -> f64 {
    *MEASURES.get(name).unwrap_or_else(|| panic!("{name} has no measure"))
}

#[derive(Debug, Deserialize)]
struct Price {
    name: String,
    /// The number of units that the price covers.
    per: f64,
    /// The price in dollars, in tiers such as `1 up to 300, then 0.9`.
    dollars: String,
}

static PRICES: LazyLock<Vec<Price>> = LazyLock::new(|| rows(include_str!("prices.csv")));

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

/// The group of routes that reject unknown keys.
pub const UNKNOWN_KEY: &str = "all with a key";

/// Typical requests, and each route's most expensive request.
pub static REQUESTS: LazyLock<Vec<RequestKind>> =
    LazyLock::new(|| rows(include_str!("requests.csv")));

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RequestKind {
    pub name: String,
    pub target: String,
    /// The route that this is the most expensive request of, or a group of routes.
    pub route: String,
    /// The percentage among typical requests (an assumption).
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

/// A deployment's requests in a number of days.
#[derive(Debug)]
pub struct Usage {
    /// The number of requests of each kind in [`REQUESTS`].
    counts: Vec<f64>,
    /// The fraction of requests that start a container.
    cold_share: f64,
    days: f64,
    /// `true` if CloudFront and a firewall are in front of the API.
    has_edge: bool,
    monitoring: Monitoring,
}

impl Usage {
    pub fn month(requests: f64, cold_share: f64) -> Self {
        Self::new(DAYS, cold_share, |kind| requests * kind.share / 100.0)
    }

    /// A day at the request limits, with each route's most expensive request.
    fn worst_day(cold_share: f64) -> Self {
        Self::new(1.0, cold_share, |kind| kind.rate * SECONDS_PER_DAY)
    }

    /// A day at the request limits without a valid key. Public routes return their largest response, and the others
    /// reject an unknown key.
    fn flood(cold_share: f64) -> Self {
        Self::new(1.0, cold_share, |kind| kind.keyless_rate * SECONDS_PER_DAY)
    }

    fn new(days: f64, cold_share: f64, count: impl Fn(&RequestKind) -> f64) -> Self {
        let counts = REQUESTS.iter().map(count).collect();
        Self { counts, cold_share, days, has_edge: false, monitoring: Monitoring::Full }
    }

    fn requests(&self) -> f64 {
        self.total(|_| 1.0)
    }

    fn total(&self, field: impl Fn(&RequestKind) -> f64) -> f64 {
        self.counts.iter().zip(REQUESTS.iter()).map(|(count, kind)| count * field(kind)).sum()
    }
}

/// A line on a bill, the name of a price, and the number of units used. A line can have several prices.
type Item = (String, &'static str, f64);

/// A bill's lines in dollars: request-based costs, fixed costs, and totals.
pub fn bill(usage: &Usage) -> Vec<(String, f64)> {
    let groups = [("Total for requests", for_requests(usage)), ("Total", fixed(usage))];
    // Tiers apply to the total of all items with the same price.
    let mut counts = HashMap::<&str, f64>::new();
    for (_, price, count) in groups.iter().flat_map(|(_, items)| items) {
        *counts.entry(price).or_default() += count;
    }
    let (mut lines, mut total) = (Vec::<(String, f64)>::new(), 0.0);
    for (name, items) in groups {
        for (what, price, count) in items {
            let all = counts[price].max(f64::MIN_POSITIVE);
            let dollars = cost(price, all) * count / all;
            total += dollars;
            match lines.last_mut().filter(|last| last.0 == what) {
                Some((_, sum)) => *sum += dollars,
                None => lines.push((what, dollars)),
            }
        }
        lines.push((name.to_owned(), total));
    }
    lines
}

fn gb_seconds(memory_mb: f64, ms: f64) -> f64 {
    memory_mb / 1024.0 * ms / 1000.0
}

fn for_requests(usage: &Usage) -> Vec<Item> {
    let requests = usage.requests();
    let starts = requests * usage.cold_share;
    let start_units =
        snapshot_read_units(measure("snapshot_bytes")) + measure("key_and_manifest_units");
    let logs = |bytes| requests * measure(bytes);
    let memory_mb = measure("memory_mb");
    let start_ms = starts * measure("start_ms");
    let metered = usage.total(|kind| (kind.response_bytes / BYTES_PER_METERED_REQUEST).ceil());
    let data = usage.total(|kind| kind.response_bytes);
    let time = usage.total(|kind| kind.ms);
    let mut items = vec![
        ("API Gateway", "api_requests", metered),
        ("Lambda, requests", "lambda_requests", requests),
        ("Lambda, request time", "lambda_time", gb_seconds(memory_mb, time)),
        ("Lambda, cold start time", "lambda_time", gb_seconds(memory_mb, start_ms)),
        ("DynamoDB, reads for requests", "read_units", usage.total(|kind| kind.read_units)),
        ("DynamoDB, reads for cold starts", "read_units", starts * start_units),
        ("KMS, cold starts", "kms_requests", starts * measure("tables_read")),
        ("Logs from functions", "logs", logs("log_bytes")),
        ("Logs from API Gateway", "logs", logs("gateway_log_bytes")),
    ];
    if usage.has_edge {
        // Data transfer from the API to CloudFront is free.
        items.extend([
            ("CloudFront, requests", "edge_requests", requests),
            ("CloudFront, data transfer out", "edge_data_out", data),
            ("Logs from CloudFront", "logs", logs("edge_log_bytes")),
            ("Firewall, requests", "firewall_requests", requests),
        ]);
    } else {
        items.push(("Data transfer out", "data_out", data));
    }
    items.into_iter().map(|(what, price, count)| (what.to_owned(), price, count)).collect()
}

fn fixed(usage: &Usage) -> Vec<Item> {
    let [metrics, alarms, alarm_metrics, dashboards] = usage.monitoring.counts();
    let metrics_line = format!("{metrics} metrics");
    let alarms = format!("{alarms} alarms on {alarm_metrics} metrics");
    let firewall = format!("Firewall with {} rules", measure("edge_rules"));
    // A busy container reads its key and the manifest every minute.
    let minutes = DAYS * SECONDS_PER_DAY / 60.0 * measure("keyed_functions");
    let checks = "Checks of the key and the manifest";

    let [items, item_bytes, changed, snapshot_bytes, difference_bytes] =
        ["items", "item_bytes", "items_changed_per_night", "snapshot_bytes", "difference_bytes"]
            .map(measure);
    let history_days = f64::from(DEFAULT_HISTORY_DAYS);
    // Each publication has a copy.
    let publication_bytes = 2.0 * measure("publication_bytes");
    let history_bytes = changed * measure("history_item_bytes");
    // Verification reads the whole history. Reading the differences costs half.
    let night = history_bytes + difference_bytes / 2.0 + publication_bytes;
    let reads = items * item_bytes / 4096.0
        + history_days * night / 4096.0
        + 2.0 * snapshot_read_units(snapshot_bytes);
    // An item and a history change take one unit each.
    let writes = 2.0 * changed + (snapshot_bytes + difference_bytes) / 1024.0;
    let import = "Nightly import";

    let stored_night =
        history_bytes + changed * STORAGE_OVERHEAD + difference_bytes + publication_bytes;
    let bytes = items * (item_bytes + STORAGE_OVERHEAD)
        + SNAPSHOTS * snapshot_bytes
        + history_days * stored_night;
    let storage = "Storage and backups";

    // The probe waits for all its requests, which have the size of typical requests.
    let probed = PROBES * measure("probe_requests");
    let invocations = probed + PROBES;
    let probe_ms = 2.0 * probed * measure("request_ms");
    let units = Usage::month(probed, 0.0).total(|kind| kind.read_units);
    let probe = "Probe every five minutes";

    let import_ms = DAYS * measure("import_seconds") * 1000.0;
    let mut items = vec![
        (&*metrics_line, "metrics", metrics),
        (&alarms, "alarm_metrics", alarm_metrics),
        ("Dashboard", "dashboards", dashboards),
        (checks, "read_units", minutes * measure("key_and_manifest_units")),
        (checks, "kms_requests", minutes / 5.0 * measure("tables_read")),
        (import, "lambda_time", gb_seconds(measure("import_memory_mb"), import_ms)),
        (import, "read_units", DAYS * reads),
        (import, "write_units", DAYS * writes),
        (storage, "storage", bytes),
        (storage, "backup", bytes),
        (probe, "api_requests", PROBES * measure("public_probe_requests")),
        (probe, "lambda_requests", invocations),
        (probe, "lambda_time", gb_seconds(measure("memory_mb"), probe_ms)),
        (probe, "read_units", units),
        (probe, "logs", invocations * measure("log_bytes")),
    ];
    if usage.has_edge {
        items.extend([
            (&*firewall, "firewalls", 1.0),
            (&firewall, "firewall_rules", measure("edge_rules")),
        ]);
    }
    items.retain(|(_, _, count)| *count > 0.0);
    let share = usage.days / DAYS;
    items.into_iter().map(|(what, price, count)| (what.to_owned(), price, count * share)).collect()
}

/// Read units for a snapshot. Each chunk is rounded up to 4 KB. Eventually consistent reads
/// cost half.
pub fn snapshot_read_units(bytes: f64) -> f64 {
    let chunks = (0..bytes as usize).step_by(store::CHUNK_BYTES);
    let sizes = chunks.map(|start| (bytes as usize - start).min(store::CHUNK_BYTES));
    sizes.map(|size| size.div_ceil(4096) as f64 / 2.0).sum()
}
