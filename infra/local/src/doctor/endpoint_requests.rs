//! The requests of a probe. Those that are a GET follow from the description of the API, so that a new
//! endpoint is probed without being listed here. The others are listed: what takes a body, and the pages.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::openapi::{description, needs_key};

/// A request of the probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeRequest {
    /// The path as the description has it, such as `/v1/npa/{npa}`.
    pub route: String,
    /// Path and query.
    pub target: String,
    /// What is posted; `None` for a GET.
    pub body: Option<Value>,
    pub expectation: Expectation,
}

/// What should come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation {
    /// 200, without a key.
    Public,
    /// 200 and HTML, without a key.
    Page,
    /// 401, since the request has no key.
    Unauthorized,
    /// 200, with the key.
    Data,
    /// 404, since there is no such path.
    NotFound,
    /// 403, since the request comes past the distribution.
    Forbidden,
}

impl Expectation {
    fn status_and_error(self) -> (u16, Option<&'static str>) {
        match self {
            Self::Public | Self::Page | Self::Data => (200, None),
            Self::Unauthorized => (401, Some("unauthorized")),
            Self::NotFound => (404, Some("not_found")),
            Self::Forbidden => (403, Some("forbidden")),
        }
    }

    /// What is wrong with a response.
    pub fn contradiction(self, status: u16, body: &Value) -> Option<String> {
        let (expected, error) = self.status_and_error();
        if status == 200 && expected == 401 {
            return Some("it answers without a key".to_owned());
        }
        if status == 200 && expected == 403 {
            return Some("it answers requests that come past the distribution".to_owned());
        }
        if status != expected {
            let said = body["message"].as_str().unwrap_or("no JSON");
            return Some(format!("it answers '{said}' instead of {expected}"));
        }
        if self == Self::Page {
            return (!body.is_string()).then(|| "it answers with no page".to_owned());
        }
        if body.is_null() || body.is_string() {
            return Some("it answers with no JSON".to_owned());
        }
        let is_ours = error.is_none_or(|error| body["error"] == *error);
        (!is_ours).then(|| "the answer is not one of this service".to_owned())
    }
}

impl ProbeRequest {
    /// The request of a path without parameters.
    pub fn of_path(path: &str, expectation: Expectation) -> Self {
        Self { route: path.to_owned(), target: path.to_owned(), body: None, expectation }
    }

    /// The requests that post something about an exchange.
    fn with_bodies(example: &Example, expectation: Expectation) -> [Self; 2] {
        let number = example.number();
        let call = json!({ "name": "lookup_block", "arguments": { "tn": number } });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
        [("/v1/format", json!([number])), ("/mcp", message)]
            .map(|(path, body)| Self { body: Some(body), ..Self::of_path(path, expectation) })
    }

    /// Whether the request is one that a distribution would have passed on.
    pub fn is_passed_on(&self) -> bool {
        self.expectation != Expectation::Forbidden
    }

    /// What the finding about it is called.
    pub fn check(&self) -> String {
        let method = if self.body.is_some() { "POST" } else { "GET" };
        let circumstances = match self.expectation {
            Expectation::Data => " with the key",
            Expectation::Unauthorized => " without a key",
            Expectation::Forbidden => " past the distribution",
            Expectation::Public | Expectation::Page | Expectation::NotFound => "",
        };
        format!("{method} {}{circumstances}", self.route)
    }
}

/// An exchange to ask about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    npa: String,
    nxx: String,
    ocn: String,
}

impl Default for Example {
    /// An exchange of which only the form is right, for requests that are refused before it matters.
    fn default() -> Self {
        Self { npa: "415".to_owned(), nxx: "555".to_owned(), ocn: "9999".to_owned() }
    }
}

impl Example {
    /// The first exchange in the response to a search of which all is known that can be asked about:
    /// the carrier of some is not published.
    pub fn found_by(response: &Value) -> Option<Self> {
        response["results"].as_array()?.iter().find_map(|found| {
            let text = |name: &str| found[name].as_str().map(ToOwned::to_owned);
            Some(Self { npa: text("npa")?, nxx: text("nxx")?, ocn: text("ocn")? })
        })
    }

    /// Its first number.
    fn number(&self) -> String {
        format!("+1{}{}0000", self.npa, self.nxx)
    }

    /// The value that a parameter gets.
    fn value(&self, parameter: &str) -> Option<String> {
        let Self { npa, nxx, ocn } = self;
        match parameter {
            "npa" => Some(npa.clone()),
            "nxx" => Some(nxx.clone()),
            "ocn" => Some(ocn.clone()),
            "tn" => Some(self.number()),
            _ => None,
        }
    }
}

/// The requests without a key: public endpoints and pages, those that refuse, and a path that does not
/// exist.
pub fn unkeyed() -> Vec<ProbeRequest> {
    let description = description();
    let mut requests: Vec<ProbeRequest> = operations(&description)
        .map(|(path, operation)| {
            let is_public = !needs_key(operation);
            let expectation =
                if is_public { Expectation::Public } else { Expectation::Unauthorized };
            ProbeRequest {
                route: path.to_owned(),
                target: target(path, operation, &Example::default()),
                body: None,
                expectation,
            }
        })
        .collect();
    let example = Example::default();
    requests.extend(ProbeRequest::with_bodies(&example, Expectation::Unauthorized));
    requests.extend(["/", "/docs"].map(|path| ProbeRequest::of_path(path, Expectation::Page)));
    requests.push(ProbeRequest::of_path("/v1/no-such-endpoint", Expectation::NotFound));
    requests
}

/// The request that the functions refuse behind a distribution.
pub fn refused() -> ProbeRequest {
    ProbeRequest::of_path("/v1/health", Expectation::Forbidden)
}

/// The requests with a key about an exchange: that of one endpoint, or those of all but the search,
/// which found the exchange.
pub fn keyed(example: &Example, only: Option<&str>) -> Vec<ProbeRequest> {
    let description = description();
    let posts = ProbeRequest::with_bodies(example, Expectation::Data);
    operations(&description)
        .filter(|(path, operation)| {
            let is_asked = only.map_or(*path != SEARCH, |only| *path == only);
            needs_key(operation) && is_asked
        })
        .map(|(path, operation)| ProbeRequest {
            route: path.to_owned(),
            target: target(path, operation, example),
            body: None,
            expectation: Expectation::Data,
        })
        .chain(posts.into_iter().filter(|_| only.is_none()))
        .collect()
}

/// The endpoint that says what else can be asked.
pub const SEARCH: &str = "/v1/search";

fn operations(description: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let paths = description["paths"].as_object().into_iter().flatten();
    paths.filter_map(|(path, item)| Some((path.as_str(), item.get("get")?)))
}

/// Path and query of a request, with every parameter that the endpoint needs.
fn target(path: &str, operation: &Value, example: &Example) -> String {
    let encoded = |name: &str| {
        let value = example.value(name).unwrap_or_default();
        utf8_percent_encode(&value, NON_ALPHANUMERIC).to_string()
    };
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let (mut target, mut query) = (path.to_owned(), Vec::new());
    for parameter in parameters {
        let Some(name) = parameter["name"].as_str() else { continue };
        if parameter["in"] == "path" {
            target = target.replace(&format!("{{{name}}}"), &encoded(name));
        } else if parameter["required"] == true {
            query.push(format!("{name}={}", encoded(name)));
        } else if name == "limit" {
            // Exchanges without a carrier may come first.
            query.push(if path == SEARCH { "limit=100" } else { "limit=1" }.to_owned());
        }
    }
    if path == SEARCH {
        query.push("status=ASSIGNED".to_owned());
    }
    if query.is_empty() { target } else { format!("{target}?{}", query.join("&")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_exchange_without_a_carrier_is_no_example() {
        let without = json!({ "npa": "415", "nxx": "200", "ocn": null, "status": "ASSIGNED" });
        let with = json!({ "npa": "415", "nxx": "206", "ocn": "9206", "status": "ASSIGNED" });
        let found = Example::found_by(&json!({ "results": [without, with] })).unwrap();
        assert_eq!((found.nxx.as_str(), found.ocn.as_str()), ("206", "9206"));
        assert_eq!(Example::found_by(&json!({ "results": [without] })), None);
        assert_eq!(Example::found_by(&json!({ "results": [] })), None);
    }

    #[test]
    fn every_endpoint_is_asked_with_the_parameters_that_it_needs() {
        let description = description();
        for (path, operation) in operations(&description) {
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                // Those that many endpoints share are optional headers.
                let Some(name) = parameter["name"].as_str() else { continue };
                let is_needed = parameter["required"] == true;
                let is_known = Example::default().value(name).is_some();
                assert!(!is_needed || is_known, "the probe has no value for {name} of {path}");
            }
        }
        let asked: Vec<String> = unkeyed().into_iter().map(|request| request.target).collect();
        assert!(asked.contains(&"/v1/npa/415/nxx/555?limit=1".to_owned()), "{asked:?}");
        assert!(asked.contains(&"/v1/format?tn=%2B14155550000".to_owned()), "{asked:?}");
        assert!(asked.contains(&"/health".to_owned()), "{asked:?}");
        assert!(!asked.iter().any(|target| target.contains('{')), "{asked:?}");
        let all: Vec<ProbeRequest> =
            unkeyed().into_iter().chain(keyed(&Example::default(), None)).collect();
        let checks: Vec<String> = all.iter().map(ProbeRequest::check).collect();
        for check in [
            "POST /v1/format without a key",
            "POST /v1/format with the key",
            "POST /mcp without a key",
            "POST /mcp with the key",
            "GET /",
            "GET /docs",
        ] {
            assert!(checks.iter().any(|made| made == check), "{check} is not in {checks:?}");
        }
        let search = keyed(&Example::default(), Some(SEARCH));
        assert_eq!(search[0].target, "/v1/search?limit=100&status=ASSIGNED");
        assert_eq!(search.len(), 1);
    }
}
