//! Commands that print API responses. Each is a row of [`QUERIES`].
//!
//! They call the API's own routes in-process, so options, results and error messages are the API's.

pub mod command;
mod lookup;
mod pages;
mod render;
mod run;

use std::sync::LazyLock;

use serde_json::Value;
use shared::described_params::{DescribedParam, described_params};

use crate::routes;

pub use lookup::lookup;
pub use run::run;

/// A command that prints the response of a route.
#[derive(Debug)]
pub struct Query {
    pub name: &'static str,
    pub about: &'static str,
    /// The positional arguments with their help. Brackets mean optional, and dots repeatable, as in usage lines.
    words: &'static [(&'static str, &'static str)],
    /// The first view that suits the command line is printed.
    views: &'static [View],
}

/// A route, and how its response is printed.
#[derive(Debug)]
struct View {
    route: &'static str,
    /// The parameters that the positional arguments fill.
    params: &'static [&'static str],
    /// The fields of the list's records to show; empty for a record.
    columns: &'static [&'static str],
    /// The note below the list.
    note: &'static str,
    /// Commands that show more. Fields of the first record replace names in braces.
    next: &'static [&'static str],
}

const RECORD: View = View { route: "", params: &[], columns: &[], note: "", next: &[] };
const PORTING_NOTE: &str =
    "Carriers as assigned; numbers may have been ported to other carriers.\n";
const NPA: &str = "Area code, three digits";
const EXCHANGE_COLUMNS: [&str; 5] = ["nxx", "ocn", "company_name", "rate_center", "status"];
const CHANGE_COLUMNS: [&str; 4] = ["published_at", "change", "kind", "key"];

pub static QUERIES: [Query; 8] = [
    Query {
        name: "carrier",
        about: "Show a carrier by OCN, or find carriers by name",
        words: &[(
            "OCN|WORDS...",
            "Operating Company Number, or words in a name; the first letters of each word are enough",
        )],
        views: &[
            View {
                route: "/v1/carrier/{ocn}",
                params: &["ocn"],
                next: &["search --ocn {ocn}"],
                ..RECORD
            },
            View {
                route: "/v1/carriers",
                params: &["q"],
                columns: &["ocn", "company_name", "common_name", "carrier_type", "state"],
                next: &["carrier {ocn}", "search --ocn {ocn}"],
                note: "",
            },
        ],
    },
    Query {
        name: "area-code",
        about: "Show an area code's exchanges, or one exchange",
        words: &[("NPA", NPA), ("[NXX]", "Exchange code, three digits; shows only that exchange")],
        views: &[
            View {
                route: "/v1/npa/{npa}/nxx/{nxx}",
                params: &["npa", "nxx"],
                columns: &EXCHANGE_COLUMNS,
                note: PORTING_NOTE,
                next: &["carrier {ocn}"],
            },
            View {
                route: "/v1/npa/{npa}",
                params: &["npa"],
                columns: &EXCHANGE_COLUMNS,
                note: PORTING_NOTE,
                next: &["area-code {npa} {nxx}", "carrier {ocn}"],
            },
        ],
    },
    Query {
        name: "area-codes",
        about: "List area codes, or describe one",
        words: &[(
            "[NPA]",
            "Area code, three digits; shows its dialing rules, relief planning and holders",
        )],
        views: &[
            View {
                route: "/v1/area-codes/{npa}",
                params: &["npa"],
                next: &["area-code {npa}", "holders --npa {npa}"],
                ..RECORD
            },
            View {
                route: "/v1/area-codes",
                params: &[],
                columns: &[
                    "npa",
                    "state",
                    "country",
                    "service",
                    "status",
                    "in_service_on",
                    "total_exchanges",
                ],
                note: "",
                next: &["area-codes {npa}"],
            },
        ],
    },
    Query {
        name: "holders",
        about: "Count exchanges and blocks by holder",
        words: &[],
        views: &[View {
            route: "/v1/holders",
            params: &[],
            columns: &["ocn", "company_name", "common_name", "carrier_type", "exchanges", "blocks"],
            note: PORTING_NOTE,
            next: &["carrier {ocn}"],
        }],
    },
    Query {
        name: "search",
        about: "Search exchanges by words and filters",
        words: &[(
            "[WORDS]...",
            "Words in a company name, common name or rate center; the first letters of each are enough",
        )],
        views: &[View {
            route: "/v1/search",
            params: &["q"],
            columns: &[
                "npa",
                "nxx",
                "ocn",
                "company_name",
                "carrier_type",
                "rate_center",
                "state",
                "status",
            ],
            note: PORTING_NOTE,
            next: &["area-code {npa} {nxx}"],
        }],
    },
    Query {
        name: "changes",
        about: "List what imports changed, with values before and after",
        words: &[],
        views: &[View {
            route: "/v1/changes",
            params: &[],
            columns: &CHANGE_COLUMNS,
            note: "",
            next: &[],
        }],
    },
    Query {
        name: "history",
        about: "Show the history of a carrier or exchange",
        words: &[("NPA-NXX|OCN...", "NPA-NXX, such as 415-234, or OCN")],
        views: &[
            View {
                route: "/v1/npa/{npa}/nxx/{nxx}/history",
                params: &["npa", "nxx"],
                columns: &CHANGE_COLUMNS,
                note: "",
                next: &["area-code {npa} {nxx}"],
            },
            View {
                route: "/v1/carrier/{ocn}/history",
                params: &["ocn"],
                columns: &CHANGE_COLUMNS,
                note: "",
                next: &["carrier {ocn}"],
            },
        ],
    },
    Query {
        name: "sources",
        about: "Show the reports behind the data, with their dates and hashes",
        words: &[],
        views: &[View { route: "/v1/sources", ..RECORD }],
    },
];

/// The API's own description, without examples.
static API: LazyLock<Value> = LazyLock::new(|| {
    let description = serde_json::to_value(shared::app::openapi(routes()));
    description.expect("a description is JSON")
});

impl Query {
    fn named(name: &str) -> Option<&'static Self> {
        QUERIES.iter().find(|query| query.name == name)
    }

    /// Returns `true` if a positional argument fills the parameter.
    fn is_positional(&self, param: &str) -> bool {
        self.views.iter().any(|view| view.params.contains(&param))
    }
}

impl View {
    fn described_params(&self) -> impl Iterator<Item = DescribedParam<'static>> + use<> {
        described_params(&API, self.route, "get")
    }

    fn takes(&self, param: &str) -> bool {
        self.described_params().any(|described| described.name == param)
    }

    fn has_csv(&self) -> bool {
        let mut format = self.described_params().filter(|param| param.name == "format");
        format.any(|param| param.allowed_values().any(|format| format == "csv"))
    }
}
