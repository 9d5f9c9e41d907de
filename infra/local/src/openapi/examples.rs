//! Request and response examples: the sample requests, and their responses in files next to this
//! one. A test checks and updates the files.

use include_dir::{Dir, include_dir};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::operations;
use crate::openapi::sample_requests::{SampleRequest, requests_of};

static ANSWERS: Dir = include_dir!("$CARGO_MANIFEST_DIR/src/openapi/examples");

/// A sample request with its response.
struct Sample {
    request: SampleRequest,
    status: String,
    content_type: String,
    body: Value,
}

/// Adds an example to each parameter in a sample request, and to each response.
pub fn add(description: &mut Value) {
    let samples = samples();
    for (path, method, operation) in operations(description) {
        let own: Vec<&Sample> =
            samples.iter().filter(|sample| sample.is_of(method, path)).collect();
        let succeeding: Vec<&Sample> =
            own.iter().copied().filter(|sample| sample.status == "200").collect();
        if let Some(body) = operation.get_mut("requestBody") {
            add_to_contents(body, |content_type| {
                succeeding.iter().filter_map(|sample| sample.body_example(content_type)).collect()
            });
        }
        let parameters = operation["parameters"].as_array_mut();
        for parameter in parameters.into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap_or_default().to_owned();
            let is_in_path = parameter["in"] == "path";
            let mut values = succeeding.iter().filter_map(|sample| {
                if is_in_path { sample.in_path(path, &name) } else { sample.in_query(&name) }
            });
            if let Some(value) = values.next() {
                parameter["example"] = typed(value, &parameter["schema"]["type"]);
            }
        }
        let responses = operation["responses"].as_object_mut();
        for (status, response) in responses.into_iter().flatten() {
            let answers =
                own.iter().filter(|sample| sample.status == *status && !sample.is_thinned());
            add_to_contents(response, |content_type| {
                let of_type = answers.clone().filter(|sample| sample.media_type() == content_type);
                of_type.map(|sample| sample.answer_example()).collect()
            });
        }
    }
}

/// Adds examples to each content of a request or response, by media type. They replace the example
/// of an error, which is generic.
fn add_to_contents(value: &mut Value, examples: impl Fn(&str) -> Map<String, Value>) {
    let contents = value.get_mut("content").and_then(Value::as_object_mut);
    for (content_type, content) in contents.into_iter().flatten() {
        let examples = examples(content_type);
        if let (false, Some(content)) = (examples.is_empty(), content.as_object_mut()) {
            content.remove("example");
            content.insert("examples".to_owned(), examples.into());
        }
    }
}

/// A value with its parameter's type in the schema.
fn typed(text: String, schema_type: &Value) -> Value {
    match schema_type.as_str() {
        Some("integer" | "boolean") => text.parse().unwrap_or(Value::String(text)),
        // Lists are comma-separated.
        _ if is_list(schema_type) => text.split(',').collect(),
        _ => text.into(),
    }
}

fn is_list(schema_type: &Value) -> bool {
    let types = schema_type.as_array();
    schema_type == "array" || types.is_some_and(|types| types.contains(&json!("array")))
}

fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (function, _) in crate::functions() {
        samples.extend(requests_of(function).into_iter().filter_map(|it| sample(function, it)));
    }
    samples
}

/// A request with its response; `None` if that has no body.
fn sample(function: &str, request: SampleRequest) -> Option<Sample> {
    let file = ANSWERS.get_file(format!("{function}/{}.json", request.name))?;
    let mut answer: Value = serde_json::from_slice(file.contents()).ok()?;
    let status = answer["status"].to_string();
    let content_type = answer["headers"]["content-type"].as_str()?.to_owned();
    Some(Sample { request, status, content_type, body: answer["body"].take() })
}

impl Sample {
    /// The named request body, if it has this media type.
    fn body_example(&self, content_type: &str) -> Option<(String, Value)> {
        let body = self.request.body.as_ref()?;
        let is_of_type = self.request.header("content-type")?.starts_with(content_type);
        let value = match content_type {
            "application/json" => serde_json::from_str(body).ok()?,
            _ => Value::from(body.as_str()),
        };
        is_of_type.then(|| (self.request.name.clone(), json!({ "value": value })))
    }

    /// The response, named after its request.
    fn answer_example(&self) -> (String, Value) {
        let example = json!({ "summary": self.summary(), "value": self.body });
        (self.request.name.clone(), example)
    }

    /// The request on one line, without the key.
    fn summary(&self) -> String {
        let (path, query) =
            self.request.target.split_once('?').unwrap_or((&self.request.target, ""));
        let pairs: Vec<&str> = query
            .split('&')
            .filter(|pair| !pair.is_empty() && !pair.starts_with("apiKey="))
            .collect();
        let method = &self.request.method;
        match pairs.as_slice() {
            [] => format!("{method} {path}"),
            pairs => format!("{method} {path}?{}", pairs.join("&")),
        }
    }

    /// The response's media type without parameters.
    fn media_type(&self) -> &str {
        self.content_type.split(';').next().unwrap_or_default()
    }

    /// Returns `true` if the response omits fields that the description requires, because the
    /// request selected others.
    fn is_thinned(&self) -> bool {
        self.status == "200" && self.in_query("fields").is_some()
    }

    /// Returns `true` if the request belongs to this operation.
    fn is_of(&self, method: &str, path: &str) -> bool {
        let (expected, segments) = (path.split('/'), self.request.path().split('/'));
        self.request.method.eq_ignore_ascii_case(method)
            && expected.clone().count() == segments.clone().count()
            && expected.zip(segments).all(|(name, segment)| {
                (name.starts_with('{') && !segment.is_empty()) || name == segment
            })
    }

    fn in_path(&self, path: &str, name: &str) -> Option<String> {
        let mut segments = path.split('/').zip(self.request.path().split('/'));
        let (_, value) = segments.find(|(expected, _)| *expected == format!("{{{name}}}"))?;
        Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
    }

    fn in_query(&self, name: &str) -> Option<String> {
        let (_, query) = self.request.target.split_once('?')?;
        if name == "tn" {
            // A `+` before a number stays a plus sign.
            let value = query.split('&').find_map(|pair| pair.strip_prefix("tn="))?;
            return Some(percent_decode_str(value).decode_utf8_lossy().into_owned());
        }
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs.find_map(|(key, value)| (key == name).then(|| value.into_owned()))
    }
}
