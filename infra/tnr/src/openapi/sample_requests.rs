//! The requests in `events/<function>/requests.txt`. Tests replay them, `.ci/replay_events.py`
//! sends them through `cargo lambda`, and the OpenAPI description shows them as examples.

use include_dir::{Dir, include_dir};

static EVENTS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../events");

/// The key in sample requests, which no deployment accepts.
pub const SAMPLE_KEY: &str = "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn";

#[derive(Debug, Clone)]
pub struct SampleRequest {
    pub name: String,
    pub method: String,
    /// The path and query, encoded.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<String>,
}

pub fn requests_for(function: &str) -> Vec<SampleRequest> {
    let file = EVENTS.get_file(format!("{function}/requests.txt"));
    file.and_then(|file| file.contents_utf8()).map_or_else(Vec::new, parse)
}

/// Parses lines `name: METHOD target`, each followed by indented lines: `header: value`, and `> text`
/// for each body line.
///
/// # Panics
/// Panics if a line is malformed. Tests parse all files.
pub fn parse(text: &str) -> Vec<SampleRequest> {
    let text = text.replace("{key}", SAMPLE_KEY);
    let mut requests: Vec<SampleRequest> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let last = requests.last_mut().filter(|_| line.starts_with(' '));
        if let (Some(request), Some(text)) = (last, line.trim_start().strip_prefix('>')) {
            let text = text.strip_prefix(' ').unwrap_or(text);
            *request.body.get_or_insert_default() += &format!("{text}\n");
            continue;
        }
        let (name, value) = line.split_once(':').expect("a line has a colon");
        let (name, value) = (name.trim(), value.trim());
        if line.starts_with(' ') {
            let request = requests.last_mut().expect("a header follows a request");
            request.set_header(name.to_owned(), value);
        } else {
            let (method, target) = value.split_once(' ').expect("a target follows a method");
            requests.push(SampleRequest::new(name, method, target));
        }
    }
    requests
}

impl SampleRequest {
    pub fn new(name: impl Into<String>, method: &str, target: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            method: method.to_owned(),
            target: target.into(),
            headers: vec![("authorization".to_owned(), format!("Bearer {SAMPLE_KEY}"))],
            body: None,
        }
    }

    pub fn get(target: impl Into<String>) -> Self {
        Self::new("", "GET", target)
    }

    /// Sets a header, or removes it if `value` is empty.
    fn set_header(&mut self, name: String, value: &str) {
        self.headers.retain(|(present, _)| *present != name);
        if !value.is_empty() {
            self.headers.push((name, value.to_owned()));
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(present, _)| present == name).map(|(_, value)| value.as_str())
    }

    pub fn is_rejected(&self) -> bool {
        self.name.starts_with("error-")
    }

    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}
