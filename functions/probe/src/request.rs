//! Requests as API Gateway events and as HTTP paths.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use strum::{IntoStaticStr, VariantArray};

const USER_AGENT: &str = concat!("telephone-number-reference-probe/", env!("CARGO_PKG_VERSION"));
const HOST: &str = "probe.invalid";
/// An address reserved for documentation (RFC 5737).
const SOURCE_ADDRESS: &str = "192.0.2.1";
const JSON: &str = "application/json";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Function {
    Carriers,
    Npa,
    Format,
    Search,
    Status,
    Site,
    Mcp,
}

impl Function {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

type Pairs = Vec<(&'static str, String)>;

/// A request to a function: `POST` if it has a body, otherwise `GET`.
#[derive(Debug, Clone)]
pub struct Request {
    pub function: Function,
    /// The route as in the template, such as `/v1/npa/{npa}`.
    pub route: &'static str,
    parameters: Pairs,
    query: Pairs,
    pub(crate) body: Option<String>,
    /// The media type of the body and the response.
    pub(crate) media_type: &'static str,
}

impl Request {
    pub fn new(function: Function, route: &'static str) -> Self {
        let (parameters, query) = (Vec::new(), Vec::new());
        Self { function, route, parameters, query, body: None, media_type: JSON }
    }

    pub fn with_path_parameter(mut self, name: &'static str, value: &str) -> Self {
        self.parameters.push((name, value.to_owned()));
        self
    }

    pub fn with_query(mut self, name: &'static str, value: &str) -> Self {
        self.query.push((name, value.to_owned()));
        self
    }

    /// Sets the body, which is JSON unless [`Self::with_content_type`] sets another type.
    pub(crate) fn with_body(self, body: impl ToString) -> Self {
        Self { body: Some(body.to_string()), ..self }
    }

    pub(crate) fn with_content_type(self, media_type: &'static str) -> Self {
        Self { media_type, ..self }
    }

    /// The name for log lines. It contains the route instead of the path, which may include a phone number.
    pub fn name(&self) -> String {
        let method = if self.body.is_some() { "POST " } else { "" };
        let name = format!("{} {method}{}", self.function.name(), self.route);
        if self.media_type == JSON { name } else { format!("{name} as {}", self.media_type) }
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
        let map = |pairs: &Pairs| -> Value {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
        };
        let mut event = json!({
            "version": "2.0",
            "routeKey": route_key,
            "rawPath": path,
            "rawQueryString": self.raw_query(),
            "headers": { "accept": self.media_type, "host": HOST, "user-agent": USER_AGENT },
            "queryStringParameters": map(&self.query),
            "pathParameters": map(&self.parameters),
            "requestContext": {
                "authorizer": { "iam": { "userId": "probe" } },
                "domainName": HOST,
                "http": {
                    "method": if self.body.is_some() { "POST" } else { "GET" },
                    "path": path,
                    "protocol": "HTTP/1.1",
                    "sourceIp": SOURCE_ADDRESS,
                    "userAgent": USER_AGENT,
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
        let request = Request::new(Function::Format, "/v1/lookup/{tn+}")
            .with_path_parameter("tn", "+12015550000");
        let request =
            request.with_query("q", "a b").with_body("tn\n").with_content_type("text/csv");
        assert_eq!(request.target(), "/v1/lookup/%2B12015550000?q=a%20b");
        assert_eq!(request.name(), "format POST /v1/lookup/{tn+} as text/csv");
        let event = format!("{:#}", request.event("id"));
        insta::assert_snapshot!(event.replace(env!("CARGO_PKG_VERSION"), "[version]"));
    }
}
