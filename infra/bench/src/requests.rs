//! The requests that are measured, as URLs and as the events that API Gateway makes of them.

use axum::body::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    Error,
    database::{Data, KEY},
};

const HOST: &str = "abcdef1234.execute-api.us-east-1.amazonaws.com";

/// A request to a function.
#[derive(Debug, Clone)]
pub struct Request {
    pub name: &'static str,
    pub function: &'static str,
    /// The route of `template.yaml` that the request takes.
    pub route: &'static str,
    /// Path and query. Only the query may be percent-encoded.
    pub target: String,
    /// Where the body has what was asked for, as a JSON pointer.
    pub answer: &'static str,
}

pub const EXCHANGES: &str = "npa: an area code";
pub const EXCHANGE: &str = "npa: an exchange";
pub const FORMAT: &str = "format: a US number";
pub const FORMAT_ABROAD: &str = "format: a British number";
pub const CARRIERS: &str = "carriers: a list";
pub const CARRIER: &str = "carriers: one";
pub const SEARCH_WORDS: &str = "search: two words";
pub const SEARCH_FILTERS: &str = "search: two filters";
pub const HEALTH: &str = "status: health";

/// One request of each kind, that succeeds with this data.
pub fn of_every_kind(data: Data) -> Vec<Request> {
    let (carrier, words) = match data {
        Data::FullScale => ("6010", "cingular+wireless"),
        Data::Sample => ("4070", "sample+wireless"),
    };
    let request = |name, function, route, target: String, answer| Request {
        name,
        function,
        route,
        target,
        answer,
    };
    vec![
        request(EXCHANGES, "npa", "/v1/npa/{npa}", "/v1/npa/415".into(), "/exchanges/0/nxx"),
        request(
            EXCHANGE,
            "npa",
            "/v1/npa/{npa}/nxx/{nxx}",
            "/v1/npa/212/nxx/234".into(),
            "/exchanges/0/nxx",
        ),
        request(
            FORMAT,
            "format",
            "/v1/format/{tn+}",
            "/v1/format/+13052345678".into(),
            "/location/rateCenter",
        ),
        request(
            FORMAT_ABROAD,
            "format",
            "/v1/format/{tn+}",
            "/v1/format/+442079460958".into(),
            "/location/country",
        ),
        request(CARRIERS, "carriers", "/v1/carriers", "/v1/carriers".into(), "/carriers/0/ocn"),
        request(CARRIER, "carriers", "/v1/carrier/{ocn}", format!("/v1/carrier/{carrier}"), "/ocn"),
        request(
            SEARCH_WORDS,
            "search",
            "/v1/search",
            format!("/v1/search?q={words}"),
            "/results/0/npa",
        ),
        request(
            SEARCH_FILTERS,
            "search",
            "/v1/search",
            "/v1/search?state=NY&type=WIRELESS".into(),
            "/results/0/npa",
        ),
        request(HEALTH, "status", "/v1/health", "/v1/health".into(), "/status"),
    ]
}

/// Numbers of several countries and exchanges, for which `format` is asked in turn.
pub const NUMBERS: [&str; 16] = [
    "+13052345678",
    "+442079460958",
    "+12122345678",
    "+4930123456",
    "+14162345678",
    "+33123456789",
    "+18003569377",
    "+390212345678",
    "+14152345678",
    "+5511961234567",
    "+16502535678",
    "+81312345678",
    "+18762345678",
    "+918123456789",
    "+12142345678",
    "+61212345678",
];

/// The request of a number.
pub fn format(number: &str) -> Request {
    Request {
        name: "format: numbers of many countries",
        function: "format",
        route: "/v1/format/{tn+}",
        target: format!("/v1/format/{number}"),
        answer: "/formats/e164",
    }
}

impl Request {
    /// The [event of an HTTP API](https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html)
    /// for the request, in version 2.0 of its format, as bytes.
    pub fn event_bytes(&self) -> Bytes {
        self.event().to_string().into()
    }

    fn event(&self) -> Value {
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let route_key = format!("ANY {}", self.route);
        let mut event = json!({
            "version": "2.0",
            "routeKey": route_key,
            "rawPath": path,
            "rawQueryString": query,
            "headers": {
                "accept": "*/*",
                "authorization": format!("Bearer {KEY}"),
                "host": HOST,
                "user-agent": "curl/8.5.0",
                "x-forwarded-for": "203.0.113.7",
                "x-forwarded-port": "443",
                "x-forwarded-proto": "https",
            },
            "requestContext": {
                "accountId": "123456789012",
                "apiId": "abcdef1234",
                "domainName": HOST,
                "domainPrefix": "abcdef1234",
                "http": {
                    "method": "GET",
                    "path": path,
                    "protocol": "HTTP/1.1",
                    "sourceIp": "203.0.113.7",
                    "userAgent": "curl/8.5.0",
                },
                "requestId": "JKJaXmPLvHcESHA=",
                "routeKey": route_key,
                "stage": "$default",
                "time": "21/Nov/2026:07:00:00 +0000",
                "timeEpoch": 1_795_244_400_000_i64,
            },
            "isBase64Encoded": false,
        });
        let parameters = form_urlencoded::parse(query.as_bytes());
        let parameters: Map<String, Value> =
            parameters.map(|(name, value)| (name.into_owned(), json!(value))).collect();
        if !parameters.is_empty() {
            event["queryStringParameters"] = parameters.into();
        }
        let parameters = path_parameters(self.route, path);
        if !parameters.is_empty() {
            event["pathParameters"] = parameters.into();
        }
        event
    }

    /// Checks the whole response of a function to the event.
    pub fn check(&self, response: &[u8]) -> Result<(), Error> {
        let invocation: Value = serde_json::from_slice(response)
            .map_err(|_| format!("{}: {}", self.target, String::from_utf8_lossy(response)))?;
        let status = invocation["statusCode"].as_u64().and_then(|status| status.try_into().ok());
        let body = invocation["body"].as_str().unwrap_or_default();
        self.check_body(status.unwrap_or_default(), body.as_bytes())
    }

    /// Checks a response over HTTP.
    pub fn check_body(&self, status: u16, body: &[u8]) -> Result<(), Error> {
        let answer = serde_json::from_slice(body).unwrap_or(Value::Null);
        if status == 200 && answer.pointer(self.answer).is_some_and(|value| !value.is_null()) {
            return Ok(());
        }
        let body = String::from_utf8_lossy(body);
        Err(format!("{} was answered with {status}: {body}", self.target).into())
    }
}

/// Whether the response of a function is a 200, which is quicker to tell than [`Request::check`].
pub fn is_ok(response: &[u8]) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Status {
        status_code: u16,
    }
    serde_json::from_slice(response).is_ok_and(|status: Status| status.status_code == 200)
}

/// The values of the parameters of a route in a path. The last one of a route may be greedy.
fn path_parameters(route: &str, path: &str) -> Map<String, Value> {
    let segments = route.split('/').zip(path.split('/'));
    let parameters = segments.filter_map(|(name, value)| {
        let name = name.strip_prefix('{')?.strip_suffix('}')?;
        Some((name.trim_end_matches('+').to_owned(), json!(value)))
    });
    parameters.collect()
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    fn sample_event(name: &str) -> Value {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events");
        fs::read_to_string(folder.join(name)).unwrap().parse().unwrap()
    }

    fn request(route: &'static str, target: &str) -> Request {
        Request { name: "", function: "", route, target: target.to_owned(), answer: "/ocn" }
    }

    #[test]
    fn events_are_like_the_sample_events() {
        let exchange = request("/v1/npa/{npa}/nxx/{nxx}", "/v1/npa/212/nxx/234");
        assert_eq!(exchange.event(), sample_event("npa/exchange-by-path.json"));
        let words = request("/v1/search", "/v1/search?q=sample+wire&state=NY&limit=2");
        assert_eq!(words.event(), sample_event("search/words.json"));
    }

    #[test]
    fn a_greedy_parameter_is_named_without_its_plus() {
        let parameters = path_parameters("/v1/format/{tn+}", "/v1/format/+13052345678");
        assert_eq!(Value::from(parameters), json!({ "tn": "+13052345678" }));
    }

    #[test]
    fn an_answer_is_a_200_with_what_was_asked_for() {
        let carrier = request("/v1/carrier/{ocn}", "/v1/carrier/6010");
        let response =
            |status, body: &str| json!({ "statusCode": status, "body": body }).to_string();
        assert!(carrier.check(response(200, r#"{"ocn":"6010"}"#).as_bytes()).is_ok());
        for (status, body) in [(200, r#"{"ocn":null}"#), (404, r#"{"ocn":"6010"}"#), (200, "")] {
            assert!(carrier.check(response(status, body).as_bytes()).is_err(), "{status} {body}");
        }
        assert!(!is_ok(response(503, "{}").as_bytes()));
        assert!(is_ok(response(200, "{}").as_bytes()));
    }
}
