//! The `costs` command: a deployment's bill, computed from request sizes (`requests.csv`), and from other sizes, counts
//! and AWS list prices (`figures.csv`).

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
/// Data transfer out that is free: 100 GB.
const FREE_BYTES_OUT: f64 = 100.0 * 1_073_741_824.0;

pub fn print(args: &CostsArgs) -> Result<(), CliError> {
    let bills = if args.worst_case {
        vec![("A day", Traffic::worst_day()), ("A day without a key,", Traffic::flood())]
    } else {
        vec![("A month", Traffic::month(args.requests as f64))]
    };
    let bills = bills.iter().map(|(span, traffic)| {
        let heading = format!(
            "{span} with {} requests, {}% of which start a container; US dollars, us-east-1, 2026 list \
             prices, no volume discount, no free tier except 100 GB of data transfer out",
            HumanCount(traffic.requests() as u64),
            args.cold,
        );
        let lines = bill(args, traffic).into_iter();
        let lines = lines.map(|(what, dollars)| format!("  {what:<48}{dollars:>12.2}\n"));
        wrap(&heading, width(), 0) + "\n" + &lines.collect::<String>()
    });
    terminal::print_raw(&bills.collect::<Vec<_>>().join("\n"))
}

fn rows<T: DeserializeOwned>(csv: &str) -> Vec<T> {
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    rows.deserialize().collect::<Result<_, _>>().expect("the embedded tables are valid")
}

static FIGURES: LazyLock<HashMap<String, f64>> = LazyLock::new(|| {
    let rows = rows::<(String, f64, f64, String, String)>(include_str!("figures.csv")).into_iter();
    rows.map(|(name, value, per, ..)| (name, value / per)).collect()
});

/// A size or count that determines the costs, or the price of a unit in dollars. Tests compare sizes and counts with
/// the template and with measured requests, starts and imports.
pub fn measure(name: &str) -> f64 {
    *FIGURES.get(name).unwrap_or_else(|| panic!("{name} has no measure"))
}

fn cost(price: &str, count: f64) -> f64 {
    measure(price) * count
}

fn lambda_time(memory_mb: &str, ms: f64) -> f64 {
    cost("lambda_time", measure(memory_mb) / 1024.0 * ms / 1000.0)
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
struct Traffic {
    days: f64,
    /// The number of requests of each kind in [`REQUESTS`].
    counts: Vec<f64>,
}

impl Traffic {
    fn month(requests: f64) -> Self {
        Self::new(DAYS, |kind| requests * kind.share / 100.0)
    }

    /// A day at the request limits, with each route's most expensive request.
    fn worst_day() -> Self {
        Self::new(1.0, |kind| kind.rate * SECONDS_PER_DAY)
    }

    /// A day at the request limits without a valid key. Public routes return their largest response, and the others
    /// reject an unknown key.
    fn flood() -> Self {
        Self::new(1.0, |kind| kind.keyless_rate * SECONDS_PER_DAY)
    }

    fn new(days: f64, count: impl Fn(&RequestKind) -> f64) -> Self {
        Self { days, counts: REQUESTS.iter().map(count).collect() }
    }

    fn requests(&self) -> f64 {
        self.total(|_| 1.0)
    }

    fn total(&self, field: impl Fn(&RequestKind) -> f64) -> f64 {
        self.counts.iter().zip(REQUESTS.iter()).map(|(count, kind)| count * field(kind)).sum()
    }
}

/// A bill's lines in dollars: costs of requests, fixed costs, and totals.
fn bill(args: &CostsArgs, traffic: &Traffic) -> Vec<(String, f64)> {
    let (mut lines, mut total) = (Vec::new(), 0.0);
    for (name, group) in
        [("Total for requests", for_requests(args, traffic)), ("Total", fixed(args, traffic.days))]
    {
        total += group.iter().map(|(_, dollars)| dollars).sum::<f64>();
        lines.extend(group);
        lines.push((name.to_owned(), total));
    }
    lines
}

fn for_requests(args: &CostsArgs, traffic: &Traffic) -> Vec<(String, f64)> {
    let requests = traffic.requests();
    let starts = requests * args.cold / 100.0;
    let start_units =
        snapshot_read_units(measure("snapshot_bytes")) + measure("key_and_manifest_units");
    let metered = traffic.total(|kind| (kind.response_bytes / BYTES_PER_METERED_REQUEST).ceil());
    let read_units = traffic.total(|kind| kind.read_units);
    let data = traffic.total(|kind| kind.response_bytes);
    let logs = |bytes| cost("logs", requests * measure(bytes));
    let mut lines = vec![
        ("API Gateway", cost("api_requests", metered)),
        ("Lambda, requests", cost("lambda_requests", requests)),
        ("Lambda, request time", lambda_time("memory_mb", traffic.total(|kind| kind.ms))),
        ("Lambda, cold start time", lambda_time("memory_mb", starts * measure("start_ms"))),
        ("DynamoDB, reads for requests", cost("read_units", read_units)),
        ("DynamoDB, reads for cold starts", cost("read_units", starts * start_units)),
        ("KMS, cold starts", cost("kms_requests", starts * measure("tables_read"))),
        ("Logs from functions", logs("log_bytes")),
        ("Logs from API Gateway", logs("gateway_log_bytes")),
    ];
    if args.edge {
        // Data transfer from the API to CloudFront is free.
        lines.extend([
            ("CloudFront, requests", cost("edge_requests", requests)),
            ("CloudFront, data transfer out", cost("edge_data_out", data)),
            ("Logs from CloudFront", logs("edge_log_bytes")),
            ("Firewall, requests", cost("firewall_requests", requests)),
        ]);
    } else {
        lines.push(("Data transfer out", cost("data_out", (data - FREE_BYTES_OUT).max(0.0))));
    }
    lines.into_iter().map(|(what, dollars)| (what.to_owned(), dollars)).collect()
}

/// The costs without requests. Lines for what is not deployed are omitted.
fn fixed(args: &CostsArgs, days: f64) -> Vec<(String, f64)> {
    let [metrics, alarms, alarm_metrics, dashboards] = args.monitoring.counts();
    // A busy container reads its key and the manifest every minute.
    let minutes = DAYS * SECONDS_PER_DAY / 60.0 * measure("keyed_functions");
    let checks = cost("read_units", minutes * measure("key_and_manifest_units"))
        + cost("kms_requests", minutes / 5.0 * measure("tables_read"));

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
    let import = lambda_time("import_memory_mb", measure("import_seconds") * 1000.0)
        + cost("read_units", reads)
        + cost("write_units", writes);

    let stored_night =
        history_bytes + changed * STORAGE_OVERHEAD + difference_bytes + publication_bytes;
    let bytes = items * (item_bytes + STORAGE_OVERHEAD)
        + SNAPSHOTS * snapshot_bytes
        + history_days * stored_night;

    // The probe waits for all its requests, which have the size of typical requests.
    let requests = measure("probe_requests");
    let probe = cost("api_requests", measure("public_probe_requests"))
        + cost("lambda_requests", requests + 1.0)
        + lambda_time("memory_mb", 2.0 * requests * measure("request_ms"))
        + cost("read_units", Traffic::month(requests).total(|kind| kind.read_units))
        + cost("logs", (requests + 1.0) * measure("log_bytes"));

    let rules = measure("edge_rules");
    let firewall =
        if args.edge { measure("firewalls") + cost("firewall_rules", rules) } else { 0.0 };
    let lines = [
        (format!("{metrics} metrics"), cost("metrics", metrics)),
        (
            format!("{alarms} alarms on {alarm_metrics} metrics"),
            cost("alarm_metrics", alarm_metrics),
        ),
        ("Dashboard".to_owned(), cost("dashboards", dashboards)),
        ("Checks of the key and the manifest".to_owned(), checks),
        ("Nightly import".to_owned(), DAYS * import),
        ("Storage and backups".to_owned(), cost("storage", bytes) + cost("backup", bytes)),
        ("Probe every five minutes".to_owned(), PROBES * probe),
        (format!("Firewall with {rules} rules"), firewall),
    ];
    let lines = lines.into_iter().filter(|(_, dollars)| *dollars > 0.0);
    lines.map(|(what, dollars)| (what, dollars * days / DAYS)).collect()
}

/// Read units for a snapshot. Each chunk is rounded up to 4 KB. Eventually consistent reads
/// cost half.
pub fn snapshot_read_units(bytes: f64) -> f64 {
    let chunks = (0..bytes as usize).step_by(store::CHUNK_BYTES);
    let sizes = chunks.map(|start| (bytes as usize - start).min(store::CHUNK_BYTES));
    sizes.map(|size| size.div_ceil(4096) as f64 / 2.0).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_100_percent() {
        assert_eq!(REQUESTS.iter().map(|kind| kind.share).sum::<f64>(), 100.0);
    }

    #[test]
    fn snapshot_chunks_are_rounded_up_to_4_kb() {
        assert_eq!(snapshot_read_units(4097.0), 1.0);
        assert_eq!(snapshot_read_units(390_001.0), 48.0 + 0.5);
    }

    #[test]
    fn cost_page_has_each_kind_of_monitoring() {
        let page = include_str!("../../../../../docs/COSTS.md");
        for monitoring in Monitoring::value_variants() {
            let [metrics, alarms, alarm_metrics, dashboards] = monitoring.counts();
            let counts = [
                ("metrics", metrics),
                ("alarm_metrics", alarm_metrics),
                ("dashboards", dashboards),
            ];
            let dollars: f64 = counts.into_iter().map(|(price, count)| cost(price, count)).sum();
            let row = format!(
                "| `{monitoring:?}` | {metrics} | {alarms} on {alarm_metrics} metrics | {dashboards} | {dollars:.2} |"
            );
            assert!(page.contains(&row), "{row}");
        }
    }

    /// Each table on the page, keyed by the text before it.
    #[test]
    fn cost_page_has_the_computed_bills() {
        let page = include_str!("../../../../../docs/COSTS.md");
        let args = CostsArgs {
            requests: 0,
            cold: 1.0,
            edge: false,
            monitoring: Monitoring::Full,
            worst_case: false,
        };
        for (start, traffic) in [
            ("| 100 million |\n|---|---:|---:|---:|\n", &[1e6, 1e7, 1e8].map(Traffic::month)[..]),
            ("## The worst day", &[Traffic::worst_day()]),
            ("## A flood without a key", &[Traffic::flood()]),
        ] {
            let bills: Vec<_> = traffic.iter().map(|traffic| bill(&args, traffic)).collect();
            let row = |(index, (what, _)): (usize, &(String, f64))| {
                let cells = bills.iter().map(|bill| format!(" {:.2} |", bill[index].1));
                format!("| {what} |{}\n", cells.collect::<String>())
            };
            let rows: Vec<String> = bills[0].iter().enumerate().map(row).collect();
            // Only monthly bills include fixed costs.
            let is_last = |row: &String| row.starts_with("| Total for requests");
            let last = rows.iter().position(is_last).filter(|_| traffic.len() == 1);
            let expected = rows[..last.map_or(rows.len(), |last| last + 1)].concat();
            let (_, rest) = page.split_once(start).unwrap();
            assert!(rest.replace("**", "").contains(&expected), "{start} needs\n{expected}");
        }
    }
}
