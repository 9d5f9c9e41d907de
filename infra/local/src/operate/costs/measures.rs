//! Sizes and counts behind the costs. Tests compare them with the template and with measured
//! requests, starts and imports. Request sizes are in `requests.csv`.

/// Read units for a well-formed unknown key, more than for any lookup.
pub const UNKNOWN_KEY_UNITS: f64 = 1.0;

/// Snapshot size of the published reports.
pub const SNAPSHOT_BYTES: u32 = 591_481;
/// Read units when a container starts, besides the snapshot: its first key and the manifest. It
/// rereads both every minute.
pub const KEY_AND_MANIFEST_UNITS: f64 = 2.0;
/// The number of lookup items in the published reports, and their average bytes.
pub const ITEMS: u32 = 250_000;
pub const ITEM_BYTES: u32 = 198;
/// Items changed per night; an assumption.
pub const ITEMS_CHANGED_PER_NIGHT: u32 = 500;

/// The number of functions behind the API, and of those that read keys and the manifest.
pub const API_FUNCTIONS: u32 = 7;
pub const KEYED_FUNCTIONS: u32 = 5;
/// Memory of the API functions and of the import, in MB.
pub const MEMORY_MB: f64 = 512.0;
pub const IMPORT_MEMORY_MB: f64 = 1024.0;
/// Metrics written by each API function.
pub const REQUEST_METRICS: u32 = 7;
pub const IMPORT_METRICS: u32 = 10;
pub const PROBE_METRICS: u32 = 4;
/// Metrics derived from log lines.
pub const METRIC_FILTERS: u32 = 1;
/// Alarms, and the metrics they read. AWS bills an alarm per metric.
pub const ALARMS: u32 = 19;
pub const ALARM_METRICS: u32 = 56;
/// Firewall rules in edge.yaml.
pub const EDGE_RULES: u32 = 4;

/// Requests per probe run, three of them through API Gateway.
pub const PROBE_REQUESTS: u32 = 18;
pub const PUBLIC_PROBE_REQUESTS: u32 = 3;

/// Bytes of a function's log line per request.
pub const LOG_BYTES: u32 = 828;
/// Bytes of API Gateway's log line per request.
pub const GATEWAY_LOG_BYTES: u32 = 317;
/// Bytes of Lambda's two log lines per request, and of its line per container start, as JSON at
/// level INFO
/// (<https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-logformat.html>).
pub const PLATFORM_LOG_BYTES: u32 = 473;
pub const START_LOG_BYTES: u32 = 362;
/// Bytes of CloudFront's log line per request with edge.yaml.
pub const EDGE_LOG_BYTES: u32 = 400;

/// Billed time of a typical request in milliseconds; an upper limit, not measured on Lambda.
pub const REQUEST_MS: f64 = 10.0;
/// Billed time of a cold start in addition to its request; also an upper limit.
pub const START_MS: f64 = 200.0;
/// Seconds for a nightly import and the verification of all items; an upper limit.
pub const IMPORT_SECONDS: f64 = 180.0;
