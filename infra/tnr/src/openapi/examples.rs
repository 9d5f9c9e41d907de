//! Request and response examples: the sample requests, and their responses in the `examples` folder.
//! A test checks and updates those files.

use std::iter;

use include_dir::{Dir, include_dir};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::{component_name, needs_key, operations};
use crate::openapi::sample_requests::{SampleRequest, requests_for};

/// The maximum number of examples for a response, since readers and programs load the whole description.
const MAX_EXAMPLES: usize = 4;

static RESPONSES: Dir = include_dir!("$CARGO_MANIFEST_DIR/src/openapi/examples");

struct Sample {
    request: SampleRequest,
    status: String,
    content_type: String,
    body: Value,
}

/// Adds a command to each operation, and an example to each parameter in a sample request and to each response. A
/// component has the first example of a parameter, and one response for each operation.
pub fn add(description: &mut Value) {
    let mut shared = description["components"].take();
    let functions = crate::functions().into_iter();
    let samples: Vec<Sample> = functions.flat_map(|(function, _)| samples(function)).collect();
    for (path, method, operation) in operations(description) {
        let samples: Vec<&Sample> =
            samples.iter().filter(|sample| sample.matches(method, path)).collect();
        let succeeding = || samples.iter().filter(|sample| sample.status == "200");
        if let Some(sample) = succeeding().next() {
            let source = sample.as_curl(needs_key(operation));
            operation["x-codeSamples"] =
                json!([{ "lang": "Shell", "label": "curl", "source": source }]);
        }
        if let Some(body) = operation.get_mut("requestBody") {
            add_to_contents(body, |content_type| {
                succeeding().filter_map(|sample| sample.body_example(content_type)).collect()
            });
        }
        let parameters = operation["parameters"].as_array_mut();
        for parameter in parameters.into_iter().flatten() {
            let parameter = match parameter["$ref"].as_str() {
                Some(reference) => &mut shared["parameters"][component_name(reference)],
                None => parameter,
            };
            let name = parameter["name"].as_str().unwrap_or_default().to_owned();
            let is_in_path = parameter["in"] == "path";
            let value = succeeding().find_map(|sample| {
                if is_in_path { sample.path_value(path, &name) } else { sample.query_value(&name) }
            });
            // A default serves as an example.
            let lacks_example =
                parameter["example"].is_null() && parameter["schema"]["default"].is_null();
            if let Some(value) = value.filter(|_| lacks_example) {
                parameter["example"] = parse_as_type(value, &parameter["schema"]["type"]);
            }
        }
        let responses = operation["responses"].as_object_mut();
        for (status, response) in responses.into_iter().flatten() {
            let (response, max_examples) = match response["$ref"].as_str() {
                Some(reference) => (&mut shared["responses"][component_name(reference)], 1),
                None => (response, MAX_EXAMPLES),
            };
            add_to_contents(response, |content_type| {
                let examples = samples.iter().filter(|sample| {
                    sample.status == *status
                        && sample.media_type() == content_type
                        && !sample.is_partial()
                });
                examples.take(max_examples).map(|sample| sample.response_example()).collect()
            });
        }
    }
    description["components"] = shared;
}

/// Adds examples to each content of a request or response, by media type. They replace the generic
/// example of an error.
fn add_to_contents(value: &mut Value, examples: impl Fn(&str) -> Map<String, Value>) {
    let contents = value.get_mut("content").and_then(Value::as_object_mut);
    for (content_type, content) in contents.into_iter().flatten() {
        let examples = examples(content_type);
        if let (false, Some(content)) = (examples.is_empty(), content.as_object_mut()) {
            content.remove("example");
            let all = content.entry("examples").or_insert_with(|| json!({}));
            all.as_object_mut().expect("examples have names").extend(examples);
        }
    }
}

/// Text as a word of a shell command.
fn quoted(text: &str) -> String {
    format!("'{}'", text.trim_end().replace('\'', "'\\''"))
}

fn parse_as_type(text: String, schema_type: &Value) -> Value {
    let types = schema_type.as_array();
    let is_list =
        schema_type == "array" || types.is_some_and(|types| types.contains(&json!("array")));
    match schema_type.as_str() {
        Some("integer" | "boolean") => text.parse().unwrap_or(Value::String(text)),
        // Lists are comma-separated.
        _ if is_list => text.split(',').collect(),
        _ => text.into(),
    }
}

/// A function's sample requests whose responses have a body.
fn samples(function: &str) -> Vec<Sample> {
    let samples = requests_for(function).into_iter().filter_map(|request| {
        let file = RESPONSES.get_file(format!("{function}/{}.json", request.name))?;
        let mut response: Value = serde_json::from_slice(file.contents()).ok()?;
        let status = response["status"].to_string();
        let content_type = response["headers"]["content-type"].as_str()?.to_owned();
        Some(Sample { request, status, content_type, body: response["body"].take() })
    });
    samples.collect()
}

impl Sample {
    fn body_example(&self, content_type: &str) -> Option<(String, Value)> {
        let body = self.request.body.as_ref()?;
        let matches = self.request.header("content-type")?.starts_with(content_type);
        let value = match content_type {
            "application/json" => serde_json::from_str(body).ok()?,
            _ => Value::from(body.as_str()),
        };
        matches.then(|| (self.request.name.clone(), json!({ "value": value })))
    }

    fn response_example(&self) -> (String, Value) {
        let example = json!({ "summary": self.summary(), "value": self.body });
        (self.request.name.clone(), example)
    }

    fn summary(&self) -> String {
        format!("{} {}", self.request.method, self.target_without_key())
    }

    fn target_without_key(&self) -> String {
        let target = self.request.target.as_str();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let is_shown = |pair: &&str| !pair.is_empty() && !pair.starts_with("apiKey=");
        let pairs: Vec<&str> = query.split('&').filter(is_shown).collect();
        let separator = if pairs.is_empty() { "" } else { "?" };
        format!("{path}{separator}{}", pairs.join("&"))
    }

    /// The request as a command. The site replaces `{address}`, the server of the description.
    fn as_curl(&self, needs_key: bool) -> String {
        let key = needs_key.then(|| "-H \"Authorization: Bearer $TNR_KEY\"".to_owned());
        let body = self.request.body.as_deref().into_iter().flat_map(|body| {
            let content_type = format!("Content-Type: {}", self.request.header("content-type")?);
            Some([
                format!("-H {}", quoted(&content_type)),
                format!("--data-binary {}", quoted(body)),
            ])
        });
        let url = quoted(&format!("{{address}}{}", self.target_without_key()));
        let options = key.into_iter().chain(body.flatten());
        let lines: Vec<String> = iter::once(format!("curl {url}")).chain(options).collect();
        lines.join(" \\\n  ")
    }

    fn media_type(&self) -> &str {
        self.content_type.split(';').next().unwrap_or_default()
    }

    /// Returns `true` if the request selected fields, so the response may lack required ones.
    fn is_partial(&self) -> bool {
        self.status == "200" && self.query_value("fields").is_some()
    }

    fn matches(&self, method: &str, path: &str) -> bool {
        let (expected, segments) = (path.split('/'), self.request.path().split('/'));
        self.request.method.eq_ignore_ascii_case(method)
            && expected.clone().count() == segments.clone().count()
            && expected.zip(segments).all(|(name, segment)| {
                (name.starts_with('{') && !segment.is_empty()) || name == segment
            })
    }

    fn path_value(&self, path: &str, name: &str) -> Option<String> {
        let mut segments = path.split('/').zip(self.request.path().split('/'));
        let (_, value) = segments.find(|(expected, _)| *expected == format!("{{{name}}}"))?;
        Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
    }

    fn query_value(&self, name: &str) -> Option<String> {
        let (_, query) = self.request.target.split_once('?')?;
        if name == "tn" {
            // The API reads a `+` before a number as a plus sign.
            let value = query.split('&').find_map(|pair| pair.strip_prefix("tn="))?;
            return Some(percent_decode_str(value).decode_utf8_lossy().into_owned());
        }
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs.find_map(|(key, value)| (key == name).then(|| value.into_owned()))
    }
}
