//! The sizes and counts that the costs are computed from. Tests hold them against the template and against
//! what requests, starts and imports really take. The sizes of requests are in `requests.csv`.

/// Cost of a well-formed unknown key, in read units: more than any lookup.
pub const UNKNOWN_KEY_UNITS: f64 = 1.0;

/// The snapshot of the published reports.
pub const SNAPSHOT_BYTES: u32 = 591_481;
/// Read units of a starting container besides the snapshot: its first key and the manifest. It reads
/// both again every minute.
pub const UNITS_OF_KEY_AND_MANIFEST: f64 = 2.0;
/// The lookup items of the published reports, and the average bytes of one.
pub const ITEMS: u32 = 250_000;
pub const ITEM_BYTES: u32 = 198;
/// The items that a night changes; this is an assumption.
pub const ITEMS_CHANGED_IN_A_NIGHT: u32 = 500;

/// The functions behind the API, and those of them that read keys and the manifest.
pub const API_FUNCTIONS: u32 = 7;
pub const KEYED_FUNCTIONS: u32 = 5;
/// The memory of the functions behind the API and of the import, in MB.
pub const MEMORY_MB: f64 = 512.0;
pub const IMPORT_MEMORY_MB: f64 = 1024.0;
/// The metrics that each function behind the API writes.
pub const METRICS_OF_REQUESTS: u32 = 7;
pub const METRICS_OF_IMPORT: u32 = 10;
pub const METRICS_OF_PROBE: u32 = 4;
/// The metrics that are made of log lines.
pub const METRIC_FILTERS: u32 = 1;
/// The alarms, and the metrics that they read. AWS bills an alarm by each of these.
pub const ALARMS: u32 = 19;
pub const ALARM_METRICS: u32 = 56;
/// The rules of the firewall in edge.yaml.
pub const EDGE_RULES: u32 = 4;

/// The requests that the probe makes each time, three of them through API Gateway.
pub const REQUESTS_OF_PROBE: u32 = 18;
pub const PUBLIC_REQUESTS_OF_PROBE: u32 = 3;

/// The bytes of API Gateway's line about a request.
pub const GATEWAY_LOG_BYTES: u32 = 317;
/// The bytes of Lambda's two lines about a request, and of its line about a container that starts, in the
/// format JSON at the level INFO
/// (<https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-logformat.html>).
pub const PLATFORM_LOG_BYTES: u32 = 473;
pub const PLATFORM_LOG_BYTES_OF_START: u32 = 362;
/// The line that CloudFront logs for a request with edge.yaml.
pub const EDGE_LOG_BYTES: u32 = 400;

/// The billed time of a usual request, in milliseconds; an upper limit, since it has not been measured
/// on Lambda.
pub const REQUEST_MS: f64 = 10.0;
/// The billed time of a cold start beside its request; an upper limit likewise.
pub const START_MS: f64 = 200.0;
/// The time that a nightly import takes, in seconds, with the verification of all items; an upper limit.
pub const IMPORT_SECONDS: f64 = 180.0;
