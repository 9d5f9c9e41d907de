//! Sizes and counts that determine the costs. Tests compare them with the template and with measured
//! requests, starts and imports. Request sizes are in `requests.csv`.

pub const SNAPSHOT_BYTES: u32 = 591_481;
/// Read units for a key, and for a manifest of 4 to 8 KB with all retained versions. A container
/// reads both at startup and then every minute.
pub const KEY_AND_MANIFEST_UNITS: f64 = 3.0;
/// The number of tables that a container reads: keys, dataset and records. For each, DynamoDB requests the table key
/// from KMS when the container connects, and then every five minutes
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.howitworks.html>).
pub const TABLES_READ: f64 = 3.0;
/// The number of lookup items for the published reports, and their average size in bytes.
pub const ITEMS: u32 = 250_000;
pub const ITEM_BYTES: u32 = 198;
/// Items that change per night (an assumption).
pub const ITEMS_CHANGED_PER_NIGHT: u32 = 500;
/// The average size of a history change, and the size of a packed difference with that many changes, in bytes. Measured
/// on the published reports with 200 randomly changed exchanges.
pub const HISTORY_ITEM_BYTES: u32 = 455;
pub const DIFFERENCE_BYTES: u32 = 26_000;
/// The size of a publication with the keys of that many changes.
pub const PUBLICATION_BYTES: u32 = 1_700;

/// The number of functions behind the API, and how many of them read keys and the manifest.
pub const API_FUNCTIONS: u32 = 7;
pub const KEYED_FUNCTIONS: u32 = 6;
/// Memory for the API functions and for the import, in MB.
pub const MEMORY_MB: f64 = 512.0;
pub const IMPORT_MEMORY_MB: f64 = 1024.0;
pub const REQUEST_METRICS: u32 = 7;
pub const IMPORT_METRICS: u32 = 11;
pub const PROBE_METRICS: u32 = 7;
/// Metrics derived from log lines.
pub const METRIC_FILTERS: u32 = 1;
pub const EDGE_RULES: u32 = 7;

/// Requests per probe run, and how many of them go through API Gateway.
pub const PROBE_REQUESTS: u32 = 14;
pub const PUBLIC_PROBE_REQUESTS: u32 = 3;

/// Log bytes that a function writes per request.
pub const LOG_BYTES: u32 = 828;
/// Log bytes that API Gateway writes per request.
pub const GATEWAY_LOG_BYTES: u32 = 317;
/// Log bytes that CloudFront writes per request, with edge.yaml.
pub const EDGE_LOG_BYTES: u32 = 400;

/// Billed milliseconds for a typical request. This is an upper bound, not measured on Lambda.
pub const REQUEST_MS: f64 = 10.0;
/// Additional billed milliseconds for a cold start, also an upper bound.
pub const START_MS: f64 = 200.0;
/// Billed seconds for a nightly import, including verification of all items. This is an upper bound.
pub const IMPORT_SECONDS: f64 = 180.0;
