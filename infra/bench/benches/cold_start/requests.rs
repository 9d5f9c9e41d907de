//! The requests to measure, as API Gateway events.

use probe::Function;
use serde_json::{Value, json};

/// The database must contain this key.
const KEY: &str = "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn";

/// A request to a function.
pub struct Request {
    pub name: &'static str,
    /// The function's binary.
    pub program: &'static str,
    request: probe::Request,
    /// A JSON pointer to a field that the response must contain.
    required: &'static str,
}

/// The requests to the two baselines.
pub fn baselines() -> [Request; 2] {
    [
        ("(a) hello", "hello", "/message"),
        ("(b) hello and one GetItem", "hello_dynamodb", "/attributes"),
    ]
    .map(|(name, program, required)| {
        let request = probe::Request::new(Function::Npa, "/v1/npa/{npa}").with("npa", "415");
        Request { name, program, request, required }
    })
}

/// The requests to the functions, one of each kind.
pub fn functions(is_published: bool) -> [Request; 9] {
    let (ocn, words) =
        if is_published { ("6010", "cingular wireless") } else { ("4070", "sample wireless") };
    let to = probe::Request::new;
    let exchanges = to(Function::Npa, "/v1/npa/{npa}").with("npa", "415");
    let exchange =
        to(Function::Npa, "/v1/npa/{npa}/nxx/{nxx}").with("npa", "212").with("nxx", "234");
    let number = |number| to(Function::Format, "/v1/format/{tn+}").with("tn", number);
    let carrier = to(Function::Carriers, "/v1/carrier/{ocn}").with("ocn", ocn);
    let search = || to(Function::Search, "/v1/search");
    let filters = search().query("state", "NY").query("type", "WIRELESS");
    [
        ("npa: an area code", exchanges, "/exchanges/0/nxx"),
        ("npa: an exchange", exchange, "/exchanges/0/nxx"),
        ("format: a US number", number("+13052345678"), "/location/rateCenter"),
        ("format: a British number", number("+442079460958"), "/location/country"),
        ("carriers: a list", to(Function::Carriers, "/v1/carriers"), "/carriers/0/ocn"),
        ("carriers: one", carrier, "/ocn"),
        ("search: two words", search().query("q", words), "/results/0/npa"),
        ("search: two filters", filters, "/results/0/npa"),
        ("status: health", to(Function::Status, "/v1/health"), "/status"),
    ]
    .map(|(name, request, required)| Request {
        name,
        program: request.function.name(),
        request,
        required,
    })
}

impl Request {
    /// The API Gateway event for the request, with a key.
    pub fn event(&self) -> Value {
        let mut event = self.request.event("bench");
        event["headers"]["authorization"] = json!(format!("Bearer {KEY}"));
        event["requestContext"]["authorizer"].take();
        event
    }

    /// Asserts that the response is a 200 with the required field.
    pub fn check(&self, response: &Value) {
        let body = response["body"].as_str().unwrap_or_default();
        let body: Value = body.parse().unwrap_or_default();
        let has_field = body.pointer(self.required).is_some_and(|value| !value.is_null());
        assert!(response["statusCode"] == 200 && has_field, "{}: {response}", self.name);
    }
}
