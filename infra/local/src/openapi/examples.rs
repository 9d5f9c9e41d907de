//! Examples of requests and answers: the sample requests, and the snapshots of their answers.

use include_dir::{Dir, include_dir};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::operations;
use crate::sample_requests::{SampleRequest, requests_of};

static SNAPSHOTS: Dir = include_dir!("$CARGO_MANIFEST_DIR/tests/e2e/api/snapshots");

/// The time that stands in examples for those that differ from run to run.
const TIME: &str = "2026-11-21T09:00:03Z";

/// A sample request with its answer.
struct Sample {
    request: SampleRequest,
    status: String,
    content_type: String,
    body: Value,
}

/// Adds an example to each parameter that a sample request has, and examples to each response.
pub fn add(description: &mut Value) {
    let samples = samples();
    for (path, method, operation) in operations(description) {
        let own: Vec<&Sample> = samples
            .iter()
            .filter(|sample| {
                sample.request.method.eq_ignore_ascii_case(method) && sample.is_at(path)
            })
            .collect();
        if let Some(body) = operation.get_mut("requestBody") {
            add_to_body(body, &own);
        }
        let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
        for parameter in parameters.into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap_or_default().to_owned();
            let is_in_path = parameter["in"] == "path";
            let succeeding = own.iter().filter(|sample| sample.status == "200");
            let mut values = succeeding.filter_map(|sample| {
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
            add_to_response(response, answers.copied());
        }
    }
}

/// Adds the bodies of the sample requests that succeed, by their content types.
fn add_to_body(body: &mut Value, own: &[&Sample]) {
    let contents = body.get_mut("content").and_then(Value::as_object_mut);
    for (content_type, content) in contents.into_iter().flatten() {
        let sent = own.iter().filter(|sample| sample.status == "200").filter_map(|sample| {
            let body = sample.request.body.as_ref()?;
            let value = match content_type.as_str() {
                "application/json" => serde_json::from_str(body).ok()?,
                _ => Value::from(body.as_str()),
            };
            let is_of_type = sample.request.header("content-type")?.starts_with(content_type);
            is_of_type.then(|| (sample.request.name.clone(), json!({ "value": value })))
        });
        let examples: Map<String, Value> = sent.collect();
        if let (false, Some(content)) = (examples.is_empty(), content.as_object_mut()) {
            content.insert("examples".to_owned(), examples.into());
        }
    }
}

/// Replaces the example of an error, which is one of its kind, with those of the operation.
fn add_to_response<'a>(response: &mut Value, answers: impl Iterator<Item = &'a Sample> + Clone) {
    let contents = response.get_mut("content").and_then(Value::as_object_mut);
    for (content_type, content) in contents.into_iter().flatten() {
        let of_type = answers.clone().filter(|sample| sample.media_type() == content_type);
        let examples: Map<String, Value> = of_type
            .map(|sample| {
                let example = json!({ "summary": sample.summary(), "value": sample.body });
                (sample.request.name.clone(), example)
            })
            .collect();
        if let (false, Some(content)) = (examples.is_empty(), content.as_object_mut()) {
            content.remove("example");
            content.insert("examples".to_owned(), examples.into());
        }
    }
}

/// A value as its parameter has it: of the type that the schema says.
fn typed(text: String, schema_type: &Value) -> Value {
    match schema_type.as_str() {
        Some("integer" | "boolean") => text.parse().unwrap_or(Value::String(text)),
        // Those of a list are separated by commas.
        _ if is_list(schema_type) => text.split(',').collect(),
        _ => text.into(),
    }
}

fn is_list(schema_type: &Value) -> bool {
    let types = schema_type.as_array();
    schema_type == "array" || types.is_some_and(|types| types.contains(&json!("array")))
}

fn samples() -> Vec<Sample> {
    let functions = crate::functions().into_iter();
    functions
        .flat_map(|(function, _)| {
            requests_of(function).into_iter().filter_map(move |request| sample(function, request))
        })
        .collect()
}

/// A request with the answer in its snapshot; `None` if its snapshot is missing or has no body.
fn sample(function: &str, request: SampleRequest) -> Option<Sample> {
    let file = format!("e2e__api__events__{function}__{}.snap", request.name);
    let snapshot = SNAPSHOTS.get_file(file)?.contents_utf8()?;
    // The answer stands below the metadata.
    let (_, answer) = snapshot.split_once("\n---\n")?;
    let mut answer: Value = serde_json::from_str(answer).ok()?;
    let mut body = answer["body"].take();
    fill_in(&mut body);
    let status = answer["status"].to_string();
    let content_type = answer["headers"]["content-type"].as_str()?.to_owned();
    Some(Sample { request, status, content_type, body })
}

/// Replaces what snapshots leave out.
fn fill_in(value: &mut Value) {
    match value {
        Value::String(text) if text == "[time]" => TIME.clone_into(text),
        Value::String(text) if text == "[version]" => {
            env!("CARGO_PKG_VERSION").clone_into(text);
        }
        Value::Object(fields) => fields.values_mut().for_each(fill_in),
        Value::Array(items) => items.iter_mut().for_each(fill_in),
        _ => (),
    }
}

impl Sample {
    /// The request in a line, without the key.
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

    /// The media type of the answer without its parameters.
    fn media_type(&self) -> &str {
        self.content_type.split(';').next().unwrap_or_default()
    }

    /// Whether the answer lacks fields that the description requires, since it has only those asked for.
    fn is_thinned(&self) -> bool {
        self.status == "200" && self.in_query("fields").is_some()
    }

    /// Whether the request is one to this path of the description.
    fn is_at(&self, path: &str) -> bool {
        let (expected, segments) = (path.split('/'), self.request.path().split('/'));
        expected.clone().count() == segments.clone().count()
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
