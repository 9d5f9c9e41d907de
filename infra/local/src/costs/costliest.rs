//! The most expensive request of each route, as the tests measure it on the sample.

use super::measures::{LARGEST, REQUEST_MS, RequestKind};

/// The most expensive request of some routes.
#[derive(Debug, PartialEq)]
pub struct Costliest {
    /// The routes, as `template.yaml` names them.
    pub routes: &'static [&'static str],
    pub kind: RequestKind,
    /// Its billed time in milliseconds; an upper limit, like [`REQUEST_MS`].
    pub ms: f64,
}

/// The largest page stands for all routes whose answers are smaller.
pub const COSTLIEST: [Costliest; 8] = [
    Costliest {
        routes: &["ANY /v1/format"],
        kind: RequestKind {
            name: "1,000 numbers of as many exchanges, with long names of their own",
            target: "/v1/format?include=all&cache=false",
            share: 0,
            response_bytes: 2_050_843,
            log_bytes: 834,
            read_units: 500.0,
        },
        ms: 500.0,
    },
    Costliest {
        routes: &["ANY /mcp"],
        kind: RequestKind {
            name: "25 numbers of as many exchanges by `format_numbers`",
            target: "/mcp",
            share: 0,
            response_bytes: 82_752,
            log_bytes: 830,
            read_units: 12.5,
        },
        ms: 50.0,
    },
    Costliest {
        routes: &["ANY /flags/{path+}"],
        kind: RequestKind {
            name: "the largest image",
            target: "/flags/states/PA.svg",
            share: 0,
            response_bytes: 353_500,
            log_bytes: 780,
            read_units: 0.0,
        },
        ms: 50.0,
    },
    Costliest {
        routes: &["ANY /openapi.json"],
        kind: RequestKind {
            name: "the description",
            target: "/openapi.json",
            share: 0,
            response_bytes: 450_884,
            log_bytes: 770,
            read_units: 0.0,
        },
        ms: 50.0,
    },
    Costliest {
        routes: &["ANY /openapi-3.0.json"],
        kind: RequestKind {
            name: "the description in OpenAPI 3.0",
            target: "/openapi-3.0.json",
            share: 0,
            response_bytes: 455_291,
            log_bytes: 774,
            read_units: 0.0,
        },
        ms: 50.0,
    },
    Costliest {
        routes: &["ANY /docs"],
        kind: RequestKind {
            name: "the reference",
            target: "/docs",
            share: 0,
            response_bytes: 35_960,
            log_bytes: 766,
            read_units: 0.0,
        },
        ms: REQUEST_MS,
    },
    Costliest {
        routes: &["ANY /"],
        kind: RequestKind {
            name: "the page",
            target: "/",
            share: 0,
            response_bytes: 69_370,
            log_bytes: 768,
            read_units: 0.0,
        },
        ms: REQUEST_MS,
    },
    Costliest {
        routes: &[
            "ANY /v1/carriers",
            "ANY /v1/carrier",
            "ANY /v1/carrier/{ocn}",
            "ANY /v1/npa",
            "ANY /v1/npa/{npa}",
            "ANY /v1/npa/{npa}/nxx/{nxx}",
            "ANY /v1/format/{tn+}",
            "ANY /v1/lookup",
            "ANY /v1/lookup/{tn+}",
            "ANY /v1/search",
            "ANY /v1/health",
            "ANY /health",
            "ANY /v1/stats",
            "ANY /stats",
            "$default",
        ],
        kind: LARGEST,
        ms: REQUEST_MS,
    },
];

/// The most expensive request of a route; `None` for a route that nobody has measured.
pub fn of_route(route: &str) -> Option<&'static Costliest> {
    COSTLIEST.iter().find(|costliest| costliest.routes.contains(&route))
}
