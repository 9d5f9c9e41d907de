//! The requests of `events/<function>/requests.txt`, which are replayed here and, by
//! `.ci/replay_events.py`, through `cargo lambda`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::service::KEY;

/// One request, and the name of the snapshot of its answer.
#[derive(Debug, Clone)]
pub struct SampleRequest {
    pub name: String,
    pub method: String,
    /// Path and query as a client writes them.
    pub target: String,
    pub headers: Vec<(String, String)>,
}

/// The folder of the sample events.
pub fn events_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events")
}

/// The requests of a function, in their order; none if the function has no such file.
pub fn requests_of(function: &str) -> Vec<SampleRequest> {
    let file = events_folder().join(function).join("requests.txt");
    fs::read_to_string(file).map_or_else(|_| Vec::new(), |text| parse(&text))
}

/// Reads the lines `name: METHOD target` and, below each, indented lines `header: value`.
fn parse(text: &str) -> Vec<SampleRequest> {
    let text = text.replace("{key}", KEY);
    let mut requests: Vec<SampleRequest> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, value) = line.split_once(':').unwrap_or_else(|| panic!("no colon in '{line}'"));
        let (name, value) = (name.trim().to_owned(), value.trim());
        if line.starts_with(' ') {
            let request = requests.last_mut().expect("a header stands below a request");
            request.set_header(name, value);
        } else {
            let (method, target) = value.split_once(' ').unwrap();
            requests.push(SampleRequest::new(name, method, target));
        }
    }
    requests
}

impl SampleRequest {
    /// A request with the sample key.
    pub fn new(name: impl Into<String>, method: &str, target: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            method: method.to_owned(),
            target: target.into(),
            headers: vec![("authorization".to_owned(), format!("Bearer {KEY}"))],
        }
    }

    /// A `GET` request with the sample key.
    pub fn get(target: impl Into<String>) -> Self {
        Self::new("", "GET", target)
    }

    /// Sets a header, or leaves it out if `value` is empty.
    fn set_header(&mut self, name: String, value: &str) {
        self.headers.retain(|(present, _)| *present != name);
        if !value.is_empty() {
            self.headers.push((name, value.to_owned()));
        }
    }

    /// Whether the request is meant to be refused.
    pub fn is_refused(&self) -> bool {
        self.name.starts_with("error-")
    }

    /// The path without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}
