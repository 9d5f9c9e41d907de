//! The requests to measure, as API Gateway events.

use serde_json::{Map, Value, json};

/// An HTTP API event with the benchmarks' key.
const EVENT: &str = include_str!("../../../../events/npa/exchange-by-path.json");

/// A request to a function.
#[derive(Debug, Clone)]
pub struct Request {
    pub name: &'static str,
    pub function: &'static str,
    /// The request's route in `template.yaml`.
    route: &'static str,
    /// Path and query. Only the query may be percent-encoded.
    target: &'static str,
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
    .map(|(name, function, answer)| Request {
        name,
        function,
        route: "/v1/npa/{npa}",
        target: "/v1/npa/415",
        answer,
    })
}

/// One request of each kind that succeeds with this data.
pub fn every_kind(is_full_scale: bool) -> [Request; 9] {
    let (carrier, words) = if is_full_scale {
        ("/v1/carrier/6010", "/v1/search?q=cingular+wireless")
    } else {
        ("/v1/carrier/4070", "/v1/search?q=sample+wireless")
    };
    let number = "/v1/format/{tn+}";
    let filters = "/v1/search?state=NY&type=WIRELESS";
    [
        (EXCHANGES, "npa", "/v1/npa/{npa}", "/v1/npa/415", "/exchanges/0/nxx"),
        (EXCHANGE, "npa", "/v1/npa/{npa}/nxx/{nxx}", "/v1/npa/212/nxx/234", "/exchanges/0/nxx"),
        (FORMAT, "format", number, "/v1/format/+13052345678", "/location/rateCenter"),
        (
            "format: a British number",
            "format",
            number,
            "/v1/format/+442079460958",
            "/location/country",
        ),
        (CARRIERS, "carriers", "/v1/carriers", "/v1/carriers", "/carriers/0/ocn"),
        ("carriers: one", "carriers", "/v1/carrier/{ocn}", carrier, "/ocn"),
        (SEARCH_WORDS, "search", "/v1/search", words, "/results/0/npa"),
        (SEARCH_FILTERS, "search", "/v1/search", filters, "/results/0/npa"),
        (HEALTH, "status", "/v1/health", "/v1/health", "/status"),
    ]
    .map(|(name, function, route, target, answer)| Request {
        name,
        function,
        route,
        target,
        answer,
    })
}

impl Request {
    /// The [HTTP API
    /// event](https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html)
    /// for the request: the sample event with another URL.
    pub fn event(&self) -> Value {
        let mut event: Value = EVENT.parse().unwrap();
        let (path, query) = self.target.split_once('?').unwrap_or((self.target, ""));
        let parameters = form_urlencoded::parse(query.as_bytes());
        let parameters: Map<String, Value> =
            parameters.map(|(name, value)| (name.into_owned(), json!(value))).collect();
        event["routeKey"] = json!(format!("ANY {}", self.route));
        event["requestContext"]["routeKey"] = event["routeKey"].clone();
        event["requestContext"]["http"]["path"] = json!(path);
        event["rawPath"] = json!(path);
        event["rawQueryString"] = json!(query);
        event["queryStringParameters"] = parameters.into();
        event["pathParameters"] = path_parameters(self.route, path).into();
        event
    }

    /// Asserts that a function has answered the event with the requested field.
    pub fn check(&self, response: &Value) {
        let body: Value = response["body"].as_str().unwrap_or_default().parse().unwrap_or_default();
        let is_answered = body.pointer(self.answer).is_some_and(|value| !value.is_null());
        assert!(response["statusCode"] == 200 && is_answered, "{}: {response}", self.target);
    }
}

/// A route's path parameters. Its last one may be greedy.
fn path_parameters(route: &str, path: &str) -> Map<String, Value> {
    let segments = route.split('/').zip(path.split('/'));
    let parameters = segments.filter_map(|(name, value)| {
        let name = name.strip_prefix('{')?.strip_suffix('}')?;
        Some((name.trim_end_matches('+').to_owned(), json!(value)))
    });
    parameters.collect()
}
