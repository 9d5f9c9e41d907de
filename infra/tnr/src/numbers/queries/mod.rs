//! Commands that print API responses. Each is a row in [`QUERIES`].
//!
//! They call the API's own routes in process, so that options, results and error messages match the API's.

pub mod command;
mod lookup;
mod pages;
mod render;

use std::sync::LazyLock;

use serde_json::Value;
use shared::described_params::{DescribedParam, described_params};

use crate::routes;

pub use command::run;
pub use lookup::{LookupArgs, lookup};

/// A command that prints a route's response.
#[derive(Debug)]
pub struct Query {
    pub name: &'static str,
    pub about: &'static str,
    /// The positional arguments with their help. As in usage lines, brackets mean optional, and dots mean repeatable.
    words: &'static [(&'static str, &'static str)],
    /// The possible views. The first one that matches the command line and has results is printed.
    views: &'static [View],
}

/// A route, and the way to print its response. Names are separated by spaces.
#[derive(Debug)]
struct View {
    route: &'static str,
    /// The parameters that the positional arguments fill.
    params: &'static str,
    /// The record fields to show in a list, if its records have them, such as `data/publisher`; empty to show whole
    /// records.
    columns: &'static str,
    note: &'static str,
}

const PORTING_NOTE: &str =
    "Carriers as assigned; numbers may have been ported to other carriers.\n";
const AREA_CODE: &str = "npa state country service status in_service_on total_exchanges";
const CARRIER: &str = "ocn company_name common_name carrier_type state";
const CHANGE: &str = "published_at change kind key";
const COUNTRY: &str = "code name calling_code trunk_prefix international_prefix data/publisher";
const EXCHANGE: &str = "nxx ocn company_name rate_center status";
const FOUND_EXCHANGE: &str = "npa nxx ocn company_name carrier_type rate_center state status";
const HOLDER: &str =
    "ocn company_name common_name carrier_type exchanges blocks holder ranges numbers";
const RANGE: &str = "from to use status holder effective_from place";

const fn view(route: &'static str, params: &'static str, columns: &'static str) -> View {
    View { route, params, columns, note: "" }
}

pub static QUERIES: &[Query] = &[
    Query {
        name: "carrier",
        about: "Show a carrier by OCN, or find carriers by name",
        words: &[("OCN|WORDS...", "OCN, or words in a name; the first letters of each are enough")],
        views: &[view("/v1/carrier/{ocn}", "ocn", ""), view("/v1/carriers", "q", CARRIER)],
    },
    Query {
        name: "area-code",
        about: "Show an area code's exchanges, or one exchange",
        words: &[("NPA", "Area code"), ("[NXX]", "Exchange code; shows only that exchange")],
        views: &[
            view("/v1/npa/{npa}/nxx/{nxx}", "npa nxx", EXCHANGE).with_porting_note(),
            view("/v1/npa/{npa}", "npa", EXCHANGE).with_porting_note(),
        ],
    },
    Query {
        name: "area-codes",
        about: "List area codes, or describe one",
        words: &[("[NPA]", "Area code; shows its dialing rules, relief planning and holders")],
        views: &[view("/v1/area-codes/{npa}", "npa", ""), view("/v1/area-codes", "", AREA_CODE)],
    },
    Query {
        name: "holders",
        about: "Count exchanges and blocks, or another country's ranges, by holder",
        words: &[],
        views: &[view("/v1/holders", "", HOLDER).with_porting_note()],
    },
    Query {
        name: "countries",
        about: "List countries with their prefixes, or describe one",
        words: &[("[CODE]", "Country code, such as GB; shows its types of numbers and its data")],
        views: &[view("/v1/countries", "country", ""), view("/v1/countries", "", COUNTRY)],
    },
    Query {
        name: "ranges",
        about: "List a country's number ranges and their holders",
        words: &[("CODE", "Country code, such as GB")],
        views: &[view("/v1/countries/{code}/ranges", "code", RANGE)],
    },
    Query {
        name: "search",
        about: "Search exchanges by words and filters",
        words: &[(
            "[WORDS]...",
            "Words in a company or rate center name; the first letters of each are enough",
        )],
        views: &[view("/v1/search", "q", FOUND_EXCHANGE).with_porting_note()],
    },
    Query {
        name: "changes",
        about: "List what imports changed, with values before and after",
        words: &[],
        views: &[view("/v1/changes", "", CHANGE)],
    },
    Query {
        name: "history",
        about: "Show the history of a carrier or exchange",
        words: &[("NPA-NXX|OCN...", "NPA-NXX, such as 415-234, or OCN")],
        views: &[
            view("/v1/npa/{npa}/nxx/{nxx}/history", "npa nxx", CHANGE),
            view("/v1/carrier/{ocn}/history", "ocn", CHANGE),
        ],
    },
    Query {
        name: "sources",
        about: "Show the reports behind the data, with their dates and hashes",
        words: &[],
        views: &[view("/v1/sources", "", "")],
    },
];

/// The API's description, without examples.
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
        self.views.iter().any(|view| view.params().any(|positional| positional == param))
    }
}

impl View {
    const fn with_porting_note(self) -> Self {
        Self { note: PORTING_NOTE, ..self }
    }

    fn params(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.params.split_whitespace()
    }

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
