//! Requests, and the events that API Gateway makes of them.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::targets::Function;

/// What the probe calls itself.
const AGENT: &str = concat!("telephone-number-reference-probe/", env!("CARGO_PKG_VERSION"));
/// The host of an event that came through no API.
const HOST: &str = "probe.invalid";
/// An address that belongs to nobody (RFC 5737).
const SOURCE_ADDRESS: &str = "192.0.2.1";

/// What most requests send and want.
const JSON: &str = "application/json";

/// A request to a function: `POST` if it has a body, and otherwise `GET`.
#[derive(Debug, Clone)]
pub struct Request {
    pub function: Function,
    /// The route as the template writes it, such as `/v1/npa/{npa}`.
    pub route: &'static str,
    parameters: Vec<(&'static str, String)>,
    query: Vec<(&'static str, &'static str)>,
    body: Option<String>,
    /// The media type that is wanted, and that of the body.
    media_type: &'static str,
}

impl Request {
    pub fn to(function: Function, route: &'static str) -> Self {
        Self {
            function,
            route,
            parameters: Vec::new(),
            query: Vec::new(),
            body: None,
            media_type: JSON,
        }
    }

    /// The request with the value of a parameter in its path.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.parameters.push((name, value.into()));
        self
    }

    /// The request with a parameter of its query, which needs no encoding.
    pub fn query(mut self, name: &'static str, value: &'static str) -> Self {
        self.query.push((name, value));
        self
    }

    /// The request with a body of JSON, unless [`Self::of_type`] says otherwise.
    pub fn body(mut self, body: impl ToString) -> Self {
        self.body = Some(body.to_string());
        self
    }

    /// The request for another media type than JSON, of which its body is as well.
    pub fn of_type(mut self, media_type: &'static str) -> Self {
        self.media_type = media_type;
        self
    }

    fn method(&self) -> &'static str {
        if self.body.is_some() { "POST" } else { "GET" }
    }

    /// What log lines call the request. They have the route instead of the path, which may hold a phone
    /// number.
    pub fn name(&self) -> String {
        let method = if self.body.is_some() { "POST " } else { "" };
        let media_type = match self.media_type {
            JSON => String::new(),
            other => format!(" as {other}"),
        };
        format!("{} {method}{}{media_type}", self.function.name(), self.route)
    }

    /// The path, decoded, as an HTTP API writes it.
    fn path(&self) -> String {
        let fill_in = |path: String, (name, value): &(&str, String)| {
            path.replace(&format!("{{{name}}}"), value).replace(&format!("{{{name}+}}"), value)
        };
        self.parameters.iter().fold(self.route.to_owned(), fill_in)
    }

    /// The [event of an HTTP API](https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html)
    /// for this request, authorized by IAM: who sends it has the permission of IAM to invoke the
    /// function. `id` is what its line of the access log is found by.
    pub fn event(&self, id: &str, now: Timestamp) -> Value {
        let path = self.path();
        let route_key = format!("ANY {}", self.route);
        let query: Vec<String> =
            self.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let map = |pairs: &mut dyn Iterator<Item = (&str, &str)>| -> Map<String, Value> {
            pairs.map(|(name, value)| (name.to_owned(), json!(value))).collect()
        };
        let mut event = json!({
            "version": "2.0",
            "routeKey": route_key,
            "rawPath": path,
            "rawQueryString": query.join("&"),
            "headers": { "accept": self.media_type, "host": HOST, "user-agent": AGENT },
            "queryStringParameters": map(&mut self.query.iter().copied()),
            "pathParameters":
                map(&mut self.parameters.iter().map(|(name, value)| (*name, value.as_str()))),
            "requestContext": {
                "accountId": "probe",
                "apiId": "probe",
                "authorizer": { "iam": { "userId": "probe" } },
                "domainName": HOST,
                "domainPrefix": "probe",
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
                "time": now.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string(),
                "timeEpoch": now.as_millisecond(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_the_path_decoded_and_each_parameter_by_itself() {
        let request = Request::to(Function::Format, "/v1/lookup/{tn+}").with("tn", "+12015550000");
        let event = request.event("id", Timestamp::UNIX_EPOCH);
        assert_eq!(event["rawPath"], "/v1/lookup/+12015550000");
        assert_eq!(event["routeKey"], "ANY /v1/lookup/{tn+}");
        assert_eq!(event["pathParameters"], json!({ "tn": "+12015550000" }));
        assert_eq!(event["requestContext"]["time"], "01/Jan/1970:00:00:00 +0000");
        assert_eq!(request.name(), "format /v1/lookup/{tn+}");
    }

    #[test]
    fn a_request_with_a_body_is_a_post_of_json() {
        let request = Request::to(Function::Format, "/v1/format").body(json!(["+12015550000"]));
        let event = request.event("id", Timestamp::UNIX_EPOCH);
        assert_eq!(event["requestContext"]["http"]["method"], "POST");
        assert_eq!(event["headers"]["content-type"], "application/json");
        assert_eq!(event["body"], "[\"+12015550000\"]");
        assert_eq!(request.name(), "format POST /v1/format");
    }

    #[test]
    fn a_request_of_another_type_says_so() {
        let request = Request::to(Function::Format, "/v1/format").body("tn\n").of_type("text/csv");
        let event = request.event("id", Timestamp::UNIX_EPOCH);
        assert_eq!(
            (&event["headers"]["accept"], &event["body"]),
            (&json!("text/csv"), &json!("tn\n"))
        );
        assert_eq!(event["headers"]["content-type"], "text/csv");
        assert_eq!(request.name(), "format POST /v1/format as text/csv");
    }

    #[test]
    fn a_query_is_told_whole_and_by_parameter() {
        let request = Request::to(Function::Search, "/v1/search");
        let request = request.query("status", "ASSIGNED").query("limit", "1");
        let event = request.event("id", Timestamp::UNIX_EPOCH);
        assert_eq!(event["rawQueryString"], "status=ASSIGNED&limit=1");
        assert_eq!(event["queryStringParameters"], json!({ "status": "ASSIGNED", "limit": "1" }));
    }
}
