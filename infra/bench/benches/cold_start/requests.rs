//! The requests to measure, as API Gateway events.

use probe::Function;
use serde_json::{Value, json};

/// The key that the database must have.
const KEY: &str = "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn";

/// A request to a function.
pub struct Request {
    pub name: &'static str,
    /// The function's binary.
    pub program: &'static str,
    request: probe::Request,
    /// A JSON pointer to the requested field in the body.
    answer: &'static str,
}

pub const EXCHANGES: &str = "npa: an area code";
pub const EXCHANGE: &str = "npa: an exchange";
pub const FORMAT: &str = "format: a US number";
pub const CARRIERS: &str = "carriers: a list";
pub const SEARCH_WORDS: &str = "search: two words";
pub const SEARCH_FILTERS: &str = "search: two filters";
pub const HEALTH: &str = "status: health";

/// The requests to the two baselines.
pub fn baselines() -> [Request; 2] {
    [
        ("(a) hello", "hello", "/message"),
        ("(b) hello and one GetItem", "hello_dynamodb", "/attributes"),
    ]
    .map(|(name, program, answer)| {
        let request = probe::Request::to(Function::Npa, "/v1/npa/{npa}").with("npa", "415");
        Request { name, program, request, answer }
    })
}

/// One request of each kind that succeeds with this data.
pub fn every_kind(is_published: bool) -> [Request; 9] {
    let (ocn, words) =
        if is_published { ("6010", "cingular wireless") } else { ("4070", "sample wireless") };
    let to = probe::Request::to;
    let exchanges = to(Function::Npa, "/v1/npa/{npa}").with("npa", "415");
    let exchange =
        to(Function::Npa, "/v1/npa/{npa}/nxx/{nxx}").with("npa", "212").with("nxx", "234");
    let number = |number| to(Function::Format, "/v1/format/{tn+}").with("tn", number);
    let carrier = to(Function::Carriers, "/v1/carrier/{ocn}").with("ocn", ocn);
    let search = || to(Function::Search, "/v1/search");
    let filters = search().query("state", "NY").query("type", "WIRELESS");
    [
        (EXCHANGES, exchanges, "/exchanges/0/nxx"),
        (EXCHANGE, exchange, "/exchanges/0/nxx"),
        (FORMAT, number("+13052345678"), "/location/rateCenter"),
        ("format: a British number", number("+442079460958"), "/location/country"),
        (CARRIERS, to(Function::Carriers, "/v1/carriers"), "/carriers/0/ocn"),
        ("carriers: one", carrier, "/ocn"),
        (SEARCH_WORDS, search().query("q", words), "/results/0/npa"),
        (SEARCH_FILTERS, filters, "/results/0/npa"),
        (HEALTH, to(Function::Status, "/v1/health"), "/status"),
    ]
    .map(|(name, request, answer)| Request {
        name,
        program: request.function.name(),
        request,
        answer,
    })
}

impl Request {
    /// The event for the request, as a client with a key sends it.
    pub fn event(&self) -> Value {
        let mut event = self.request.event("bench");
        event["headers"]["authorization"] = json!(format!("Bearer {KEY}"));
        event["requestContext"]["authorizer"].take();
        event
    }

    /// Asserts that a function has answered the event with the requested field.
    pub fn check(&self, response: &Value) {
        let body = response["body"].as_str().unwrap_or_default();
        let body: Value = body.parse().unwrap_or_default();
        let is_answered = body.pointer(self.answer).is_some_and(|value| !value.is_null());
        assert!(response["statusCode"] == 200 && is_answered, "{}: {response}", self.name);
    }
}
