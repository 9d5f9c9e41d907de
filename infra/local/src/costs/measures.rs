//! What requests, cold starts and imports take, as the tests measure it. A change of the code that moves
//! one of these by more than some percent fails a test, which says what is measured now.

/// A kind of request, and what one of it takes in a container that is warm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequestKind {
    pub name: &'static str,
    /// An example on the sample, which the tests measure.
    pub target: &'static str,
    /// Its share of all requests, in percent. This is an assumption.
    pub share: u32,
    /// The response without compression: headers and body.
    pub response_bytes: u32,
    /// The line that the function logs.
    pub log_bytes: u32,
    pub read_units: f64,
}

/// The kinds of requests that the document's month has.
pub const KINDS: [RequestKind; 6] = [
    RequestKind {
        name: "a number by `format`",
        target: "/v1/format/+12122345678?cache=false",
        share: 50,
        response_bytes: 1862,
        log_bytes: 837,
        read_units: 0.5,
    },
    RequestKind {
        name: "an exchange",
        target: "/v1/npa/212/nxx/234",
        share: 20,
        response_bytes: 571,
        log_bytes: 825,
        read_units: 0.5,
    },
    RequestKind {
        name: "a carrier",
        target: "/v1/carrier/908K",
        share: 10,
        response_bytes: 503,
        log_bytes: 819,
        read_units: 0.5,
    },
    RequestKind {
        name: "a page of an area code",
        target: "/v1/npa/415",
        share: 5,
        response_bytes: 6451,
        log_bytes: 814,
        read_units: 0.0,
    },
    RequestKind {
        name: "a page of carriers",
        target: "/v1/carriers",
        share: 5,
        response_bytes: 7249,
        log_bytes: 813,
        read_units: 0.0,
    },
    RequestKind {
        name: "a page of a search",
        target: "/v1/search?q=sample",
        share: 10,
        response_bytes: 9743,
        log_bytes: 811,
        read_units: 0.0,
    },
];

/// The request with the largest response: a page of as many rows as there can be.
pub const LARGEST: RequestKind = RequestKind {
    name: "the largest page",
    target: "/v1/search?q=sample&limit=100",
    share: 0,
    response_bytes: 18848,
    log_bytes: 811,
    read_units: 0.0,
};
/// What a key that is well-formed and unknown costs, in read units: more than any lookup.
pub const UNKNOWN_KEY_UNITS: f64 = 1.0;

/// The snapshot of the published reports.
pub const SNAPSHOT_BYTES: u32 = 591_481;
/// What a container reads when it starts beside the snapshot: its first key and the manifest. It reads
/// both again every minute.
pub const UNITS_OF_KEY_AND_MANIFEST: f64 = 2.0;

/// The metrics that each function behind the API writes.
pub const METRICS_OF_REQUESTS: u32 = 7;
/// The metrics that the import writes.
pub const METRICS_OF_IMPORT: u32 = 10;
/// The metrics that the probe writes.
pub const METRICS_OF_PROBE: u32 = 4;

/// The requests that the probe makes each time, three of them through API Gateway.
pub const REQUESTS_OF_PROBE: u32 = 18;
pub const PUBLIC_REQUESTS_OF_PROBE: u32 = 3;

/// The lookup items of the published reports, and the average bytes of one.
pub const ITEMS: u32 = 250_000;
pub const ITEM_BYTES: u32 = 198;
/// The items that a night changes; this is an assumption.
pub const ITEMS_CHANGED_IN_A_NIGHT: u32 = 500;

/// Lambda's lines about one request, as it writes them in the format JSON at the level INFO
/// (<https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-logformat.html>).
pub const PLATFORM_LINES: [&str; 2] = [
    r#"{"time":"2026-11-22T09:00:00.000Z","type":"platform.start","record":{"requestId":"00000000-0000-0000-0000-000000000000","functionArn":"arn:aws:lambda:us-east-1:123456789012:function:numbers-CarriersFunction-AbCdEfGhIjKl","version":"123"}}"#,
    r#"{"time":"2026-11-22T09:00:00.000Z","type":"platform.report","record":{"requestId":"00000000-0000-0000-0000-000000000000","metrics":{"durationMs":10.123,"billedDurationMs":11,"memorySizeMB":512,"maxMemoryUsedMB":30},"status":"success"}}"#,
];
/// Lambda's line about a container that starts.
pub const PLATFORM_LINE_OF_START: &str = r#"{"time":"2026-11-22T09:00:00.000Z","type":"platform.initStart","record":{"initializationType":"on-demand","phase":"init","runtimeVersion":"provided:al2023.v100","runtimeVersionArn":"arn:aws:lambda:us-east-1::runtime:0000000000000000000000000000000000000000000000000000000000000000","functionName":"numbers-CarriersFunction-AbCdEfGhIjKl","functionVersion":"123"}}"#;

/// The billed time of a request, in milliseconds; an upper limit, since it has not been measured on
/// Lambda.
pub const REQUEST_MS: f64 = 10.0;
/// The billed time of a cold start beside its request; an upper limit likewise.
pub const START_MS: f64 = 200.0;
/// The time that a nightly import takes, in seconds, with the verification of all items; an upper limit.
pub const IMPORT_SECONDS: f64 = 180.0;
/// The line that CloudFront logs for a request with edge.yaml.
pub const EDGE_LOG_BYTES: u32 = 400;
/// The rules of the firewall in edge.yaml.
pub const EDGE_RULES: u32 = 4;

/// The read units that a snapshot costs: each chunk is rounded up to 4 KB, and an eventually
/// consistent read costs half.
pub fn units_of_snapshot(bytes: u32) -> f64 {
    const CHUNK: u32 = store::CHUNK_BYTES as u32;
    let sizes = (0..bytes).step_by(store::CHUNK_BYTES).map(|start| (bytes - start).min(CHUNK));
    sizes.map(|size| f64::from(size.div_ceil(4096)) / 2.0).sum()
}

/// The average over all kinds of requests, each by its share.
pub fn average(of_kind: impl Fn(&RequestKind) -> f64) -> f64 {
    KINDS.iter().map(|kind| of_kind(kind) * f64::from(kind.share) / 100.0).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_the_kinds_are_all_requests() {
        assert_eq!(KINDS.iter().map(|kind| kind.share).sum::<u32>(), 100);
        assert!((average(|_| 2.0) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn each_chunk_of_a_snapshot_is_rounded_up() {
        assert_eq!(units_of_snapshot(4096), 0.5);
        assert_eq!(units_of_snapshot(4097), 1.0);
        assert_eq!(units_of_snapshot(390_001), 48.0 + 0.5);
        assert_eq!(units_of_snapshot(SNAPSHOT_BYTES), 73.0);
    }
}
