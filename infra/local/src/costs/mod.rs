//! What a deployment costs, computed from what requests take ([`measures`] and [`costliest`]), what `template.yaml`
//! deploys ([`Deployment`]), and the list prices of AWS ([`prices`]).

pub mod costliest;
mod deployment;
pub mod markdown;
pub mod measures;
pub mod prices;

pub use deployment::{Deployment, RouteLimit};

use self::{
    costliest::Costliest,
    measures::{
        EDGE_LOG_BYTES, EDGE_RULES, IMPORT_SECONDS, ITEM_BYTES, ITEMS, ITEMS_CHANGED_IN_A_NIGHT,
        PLATFORM_LINE_OF_START, PLATFORM_LINES, PUBLIC_REQUESTS_OF_PROBE, REQUEST_MS,
        REQUESTS_OF_PROBE, SNAPSHOT_BYTES, START_MS, UNITS_OF_KEY_AND_MANIFEST, UNKNOWN_KEY_UNITS,
        average, units_of_snapshot,
    },
    prices::{GB, Price},
};

/// The days of a month, as the price pages count.
const DAYS: f64 = 30.0;
const SECONDS_OF_A_DAY: f64 = 86_400.0;
/// How often the probe works in a month: every five minutes.
const PROBES: f64 = DAYS * SECONDS_OF_A_DAY / 300.0;
/// The snapshots that the table of datasets holds: the current one and three older ones.
const SNAPSHOTS: f64 = 4.0;
/// What DynamoDB adds to each item when it bills storage.
const STORAGE_OVERHEAD: f64 = 100.0;
/// The share of requests that X-Ray traces by default, beside one a second.
const TRACED_SHARE: f64 = 0.05;

/// How a deployment is used.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    pub requests: f64,
    /// The share of them that starts a container, from 0 to 1.
    pub cold_share: f64,
    pub days: f64,
    /// What one request takes.
    pub request: Request,
    pub tracing: bool,
    /// Whether CloudFront and a firewall stand in front.
    pub edge: bool,
}

/// What one request takes.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    pub response_bytes: f64,
    pub log_bytes: f64,
    pub read_units: f64,
    /// The billed time, in milliseconds.
    pub ms: f64,
}

impl Request {
    /// The average over the kinds of requests.
    pub fn usual() -> Self {
        Self {
            response_bytes: average(|kind| f64::from(kind.response_bytes)),
            log_bytes: average(|kind| f64::from(kind.log_bytes)),
            read_units: average(|kind| kind.read_units),
            ms: REQUEST_MS,
        }
    }

    /// The average over the most expensive requests of all routes, each as often as its limit allows, and
    /// each with a key that has to be read.
    pub fn worst(deployment: &Deployment) -> Self {
        let average = |of: fn(&Costliest) -> f64| deployment.average_at_limits(of);
        Self {
            response_bytes: average(|it| it.kind.response_bytes.into()),
            log_bytes: average(|it| it.kind.log_bytes.into()),
            read_units: average(|it| it.kind.read_units) + UNKNOWN_KEY_UNITS,
            ms: average(|it| it.ms),
        }
    }
}

impl Usage {
    /// A month with so many requests of the usual kinds.
    pub fn month(requests: f64, cold_share: f64) -> Self {
        let request = Request::usual();
        Self { requests, cold_share, days: DAYS, request, tracing: false, edge: false }
    }

    /// A day in which clients send as many requests as the deployment takes, each the most expensive one of
    /// its route.
    pub fn worst_day(deployment: &Deployment, cold_share: f64) -> Self {
        let requests = deployment.throttling_rate() * SECONDS_OF_A_DAY;
        Self { days: 1.0, request: Request::worst(deployment), ..Self::month(requests, cold_share) }
    }
}

/// One line of a bill.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub what: String,
    pub dollars: f64,
}

impl Line {
    fn new(what: impl Into<String>, dollars: f64) -> Self {
        Self { what: what.into(), dollars }
    }
}

/// A bill: what the requests cost, and what is paid without any.
#[derive(Debug, Clone, PartialEq)]
pub struct Bill {
    pub of_requests: Vec<Line>,
    pub fixed: Vec<Line>,
}

impl Bill {
    /// What `deployment` costs if it is used so.
    pub fn of(deployment: &Deployment, usage: &Usage) -> Self {
        let mut of_requests = requests(deployment, usage);
        let mut fixed = fixed(deployment, usage.days / DAYS);
        if usage.edge {
            of_requests.extend(requests_at_edge(usage));
            fixed.push(firewall(usage.days / DAYS));
        }
        Self { of_requests, fixed }
    }

    /// The dollars of these lines together.
    pub fn sum(lines: &[Line]) -> f64 {
        lines.iter().map(|line| line.dollars).sum()
    }

    /// All dollars.
    pub fn total(&self) -> f64 {
        Self::sum(&self.of_requests) + Self::sum(&self.fixed)
    }
}

/// GB-seconds of a function with this memory.
fn gb_seconds(memory_mb: f64, seconds: f64) -> f64 {
    memory_mb / 1024.0 * seconds
}

fn requests(deployment: &Deployment, usage: &Usage) -> Vec<Line> {
    let Usage { requests, cold_share, request, .. } = *usage;
    let starts = requests * cold_share;
    let time = |count: f64, ms: f64| {
        prices::LAMBDA_TIME.of(gb_seconds(deployment.memory_mb, count * ms / 1000.0))
    };
    let units_of_start = units_of_snapshot(SNAPSHOT_BYTES) + UNITS_OF_KEY_AND_MANIFEST;
    let mut lines = vec![
        Line::new("API Gateway", prices::API_REQUESTS.of(requests)),
        Line::new("Lambda, requests", prices::LAMBDA_REQUESTS.of(requests)),
        Line::new("Lambda, time of requests", time(requests, request.ms)),
        Line::new("Lambda, time of cold starts", time(starts, START_MS)),
        Line::new(
            "DynamoDB, reads of requests",
            prices::READ_UNITS.of(requests * request.read_units),
        ),
        Line::new("DynamoDB, reads of cold starts", prices::READ_UNITS.of(starts * units_of_start)),
        Line::new("Logs of the functions", prices::LOGS.of(requests * request.log_bytes)),
    ];
    if deployment.has_platform_lines {
        let bytes = requests * platform_bytes() + starts * PLATFORM_LINE_OF_START.len() as f64;
        lines.push(Line::new("Logs of Lambda about them", prices::LOGS.of(bytes)));
    }
    if deployment.gateway_log_bytes > 0 {
        let bytes = requests * f64::from(deployment.gateway_log_bytes);
        lines.push(Line::new("Logs of API Gateway", prices::LOGS.of(bytes)));
    }
    if !usage.edge {
        let bytes = requests * request.response_bytes;
        lines.push(Line::new("Data out", prices::DATA_OUT.of(bytes)));
    }
    if usage.tracing {
        let traces = requests * TRACED_SHARE + usage.days * SECONDS_OF_A_DAY;
        lines.push(Line::new("X-Ray", prices::TRACES.of(traces.min(requests))));
    }
    lines
}

/// The bytes that Lambda logs about one request.
fn platform_bytes() -> f64 {
    PLATFORM_LINES.iter().map(|line| line.len() as f64).sum()
}

/// What a request costs more if it comes through CloudFront and the firewall. Data from the API to
/// CloudFront is free.
fn requests_at_edge(usage: &Usage) -> Vec<Line> {
    let Usage { requests, request, .. } = *usage;
    vec![
        Line::new("CloudFront, requests", prices::EDGE_REQUESTS.of(requests)),
        Line::new(
            "CloudFront, data out",
            prices::EDGE_DATA_OUT.of(requests * request.response_bytes),
        ),
        Line::new("Logs of CloudFront", prices::LOGS.of(requests * f64::from(EDGE_LOG_BYTES))),
        Line::new("Firewall, requests", prices::FIREWALL_REQUESTS.of(requests)),
    ]
}

fn firewall(months: f64) -> Line {
    let rules = prices::FIREWALL_RULES.of(EDGE_RULES.into());
    let dollars = (prices::FIREWALLS.of(1.0) + rules) * months;
    Line::new(format!("Firewall, {EDGE_RULES} rules"), dollars)
}

/// What is paid for so many months, whether there are requests or not.
fn fixed(deployment: &Deployment, months: f64) -> Vec<Line> {
    let counted =
        |price: Price, count: u32, what: String| Line::new(what, price.of(count.into()) * months);
    let Deployment { metrics, alarms, alarm_metrics, dashboards, .. } = *deployment;
    let boards =
        if dashboards == 1 { "A dashboard".to_owned() } else { format!("{dashboards} dashboards") };
    vec![
        counted(prices::METRICS, metrics, format!("{metrics} metrics")),
        counted(
            prices::ALARM_METRICS,
            alarm_metrics,
            format!("{alarms} alarms, which read {alarm_metrics} metrics"),
        ),
        counted(prices::DASHBOARDS, dashboards, boards),
        Line::new("A check of key and manifest a minute", checks(deployment) * months),
        Line::new("An import a night", imports(deployment) * months),
        Line::new("Storage and backup", storage() * months),
        Line::new("A probe every five minutes", probes(deployment) * months),
    ]
}

/// What a container of each function costs in a month because it reads its key and the manifest every
/// minute. Requests that come more seldom cost less.
fn checks(deployment: &Deployment) -> f64 {
    let minutes = DAYS * SECONDS_OF_A_DAY / 60.0;
    let containers = f64::from(deployment.keyed_functions);
    prices::READ_UNITS.of(containers * minutes * UNITS_OF_KEY_AND_MANIFEST)
}

/// What the imports of a month cost: time, a read of all items, and the writes of those that changed
/// and of a snapshot.
fn imports(deployment: &Deployment) -> f64 {
    let seconds = DAYS * IMPORT_SECONDS;
    let items_read = f64::from(ITEMS) * f64::from(ITEM_BYTES) / 4096.0;
    let reads = items_read + 2.0 * units_of_snapshot(SNAPSHOT_BYTES);
    let writes = f64::from(ITEMS_CHANGED_IN_A_NIGHT) + f64::from(SNAPSHOT_BYTES) / 1024.0;
    prices::LAMBDA_TIME.of(gb_seconds(deployment.import_memory_mb, seconds))
        + prices::READ_UNITS.of(DAYS * reads)
        + prices::WRITE_UNITS.of(DAYS * writes)
}

/// What it costs to store items and snapshots for a month, and to be able to restore them.
fn storage() -> f64 {
    let items = f64::from(ITEMS) * (f64::from(ITEM_BYTES) + STORAGE_OVERHEAD);
    let bytes = items + SNAPSHOTS * f64::from(SNAPSHOT_BYTES);
    prices::STORAGE.of(bytes) + prices::BACKUP.of(bytes)
}

/// What the probes of a month cost. Its requests are as large as those of clients.
fn probes(deployment: &Deployment) -> f64 {
    let Request { log_bytes, read_units, .. } = Request::usual();
    let requests = PROBES * f64::from(REQUESTS_OF_PROBE);
    let invocations = requests + PROBES;
    // The probe waits for all of its requests.
    let seconds = 2.0 * requests * REQUEST_MS / 1000.0;
    prices::API_REQUESTS.of(PROBES * f64::from(PUBLIC_REQUESTS_OF_PROBE))
        + prices::LAMBDA_REQUESTS.of(invocations)
        + prices::LAMBDA_TIME.of(gb_seconds(deployment.memory_mb, seconds))
        + prices::READ_UNITS.of(requests * read_units)
        + prices::LOGS.of(invocations * (log_bytes + platform_bytes()))
}

/// What the first import costs, which writes every item.
pub fn first_import() -> f64 {
    let units_of_item = f64::from(ITEM_BYTES.div_ceil(1024));
    prices::WRITE_UNITS.of(f64::from(ITEMS) * units_of_item)
}

/// So many bytes in GB.
pub fn in_gb(bytes: f64) -> f64 {
    bytes / GB
}
