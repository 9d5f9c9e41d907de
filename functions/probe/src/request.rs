//! Requests as API Gateway events and as HTTP paths.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use crate::targets::Function;

const AGENT: &str = concat!("telephone-number-reference-probe/", env!("CARGO_PKG_VERSION"));
const HOST: &str = "probe.invalid";
/// An address reserved for documentation (RFC 5737).
const SOURCE_ADDRESS: &str = "192.0.2.1";
const JSON: &str = "application/json";

/// Endpoints with one parameter or without the version that have no second route.
const WITHOUT_OTHER_ROUTE: [&str; 3] =
    ["/v1/area-codes/{npa}", "/v1/carrier/{ocn}/history", "/v1/sources"];

/// A request to a function: `POST` if it has a body, otherwise `GET`.
#[derive(Debug, Clone)]
pub struct Request {
    pub function: Function,
    /// The route as in the template, such as `/v1/npa/{npa}`.
    pub route: &'static str,
    parameters: Vec<(&'static str, String)>,
    query: Vec<(&'static str, String)>,
    pub(crate) body: Option<String>,
    /// The media type for the body and the response.
    pub(crate) media_type: &'static str,
}

impl Request {
    pub fn new(function: Function, route: &'static str) -> Self {
        Self {
            function,
            route,
            parameters: Vec::new(),
            query: Vec::new(),
            body: None,
            media_type: JSON,
        }
    }

    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.parameters.push((name, value.to_owned()));
        self
    }

    pub fn query(mut self, name: &'static str, value: &str) -> Self {
        self.query.push((name, value.to_owned()));
        self
    }

    /// Sets the body, which is JSON unless [`Self::with_content_type`] sets another type.
    pub(crate) fn body(mut self, body: impl ToString) -> Self {
        self.body = Some(body.to_string());
        self
    }

    pub(crate) fn with_content_type(mut self, media_type: &'static str) -> Self {
        self.media_type = media_type;
        self
    }

    pub fn needs_key(&self) -> bool {
        !matches!(self.function, Function::Status | Function::Site)
    }

    pub fn method(&self) -> &'static str {
        if self.body.is_some() { "POST" } else { "GET" }
    }

    /// The route, and the media type if it is not JSON.
    pub fn description(&self) -> String {
        match self.media_type {
            JSON => self.route.to_owned(),
            other => format!("{} as {other}", self.route),
        }
    }

    /// The name in log lines. It contains the route, not the path, which may include a phone number.
    pub(crate) fn name(&self) -> String {
        let method = if self.body.is_some() { "POST " } else { "" };
        format!("{} {method}{}", self.function.name(), self.description())
    }

    /// Returns the same request on the endpoint's other route, with its parameter in the query or without the version.
    pub fn at_other_route(&self) -> Option<Self> {
        if WITHOUT_OTHER_ROUTE.contains(&self.route) {
            return None;
        }
        let mut other = self.clone();
        if let [(name, value)] = &self.parameters[..] {
            other.query.push((name, value.clone()));
            other.parameters.clear();
            (other.route, _) = self.route.split_once("/{")?;
            return Some(other);
        }
        let is_unversioned = self.function == Function::Status;
        other.route = self.route.strip_prefix("/v1").filter(|_| is_unversioned)?;
        Some(other)
    }

    fn path(&self, encode: impl Fn(&str) -> String) -> String {
        let fill_in = |path: String, (name, value): &(&str, String)| {
            let value = encode(value);
            path.replace(&format!("{{{name}}}"), &value).replace(&format!("{{{name}+}}"), &value)
        };
        self.parameters.iter().fold(self.route.to_owned(), fill_in)
    }

    fn raw_query(&self) -> String {
        let query = self.query.iter().map(|(name, value)| format!("{name}={}", encode(value)));
        query.collect::<Vec<_>>().join("&")
    }

    pub(crate) fn target(&self) -> String {
        let path = self.path(encode);
        if self.query.is_empty() { path } else { format!("{path}?{}", self.raw_query()) }
    }

    /// The [HTTP API
    /// event](https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html)
    /// for this request, authorized by IAM. `id` is its ID in the access log.
    pub fn event(&self, id: &str) -> Value {
        // An HTTP API decodes paths.
        let path = self.path(str::to_owned);
        let route_key = format!("ANY {}", self.route);
        let map = |pairs: &[(&str, String)]| -> Map<String, Value> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
        };
        let mut event = json!({
            "version": "2.0",
            "routeKey": route_key,
            "rawPath": path,
            "rawQueryString": self.raw_query(),
            "headers": { "accept": self.media_type, "host": HOST, "user-agent": AGENT },
            "queryStringParameters": map(&self.query),
            "pathParameters": map(&self.parameters),
            "requestContext": {
                "authorizer": { "iam": { "userId": "probe" } },
                "domainName": HOST,
                "http": {
                    "method": self.method(),
                    "path": path,
                    "protocol": "HTTP/1.1",
                    "sourceIp": SOURCE_ADDRESS,
                    "userAgent": AGENT,
                },
                "requestId": id,
                "routeKey": route_key,
                "stage": "$default",
            },
            "isBase64Encoded": false,
        });
        if let Some(body) = &self.body {
            event["headers"]["content-type"] = json!(self.media_type);
            event["body"] = json!(body);
        }
        event
    }
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_contain_decoded_paths_and_all_parameters() {
        let request = Request::new(Function::Format, "/v1/lookup/{tn+}").with("tn", "+12015550000");
        let request = request.query("q", "a b").body("tn\n").with_content_type("text/csv");
        let event = request.event("id");
        for (pointer, expected) in [
            ("/rawPath", json!("/v1/lookup/+12015550000")),
            ("/routeKey", json!("ANY /v1/lookup/{tn+}")),
            ("/pathParameters", json!({ "tn": "+12015550000" })),
            ("/rawQueryString", json!("q=a%20b")),
            ("/queryStringParameters", json!({ "q": "a b" })),
            ("/requestContext/http/method", json!("POST")),
            ("/headers/accept", json!("text/csv")),
            ("/headers/content-type", json!("text/csv")),
            ("/body", json!("tn\n")),
        ] {
            assert_eq!(event.pointer(pointer), Some(&expected), "{pointer}");
        }
        assert_eq!(request.name(), "format POST /v1/lookup/{tn+} as text/csv");
    }

    #[test]
    fn endpoints_with_two_routes_get_a_request_on_each() {
        let other = |request: Request| request.at_other_route().map(|other| other.target());
        let lookup = Request::new(Function::Format, "/v1/lookup/{tn+}").with("tn", "+12015550000");
        assert_eq!(lookup.target(), "/v1/lookup/%2B12015550000");
        assert_eq!(other(lookup).unwrap(), "/v1/lookup?tn=%2B12015550000");
        let area_code = Request::new(Function::Npa, "/v1/npa/{npa}").with("npa", "201");
        assert_eq!(other(area_code.query("limit", "1")).unwrap(), "/v1/npa?limit=1&npa=201");
        assert_eq!(other(Request::new(Function::Status, "/v1/health")).unwrap(), "/health");
        assert_eq!(other(Request::new(Function::Search, "/v1/search")), None);
        let plan = Request::new(Function::Npa, "/v1/area-codes/{npa}").with("npa", "201");
        assert_eq!(other(plan), None);
        assert_eq!(other(Request::new(Function::Status, "/v1/sources")), None);
    }
}
