//! Expected responses.

use serde_json::{Value, json};

use crate::api::{RequestError, Response};

#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error("the status must be {expected}, got {actual} ({error})")]
    Status { expected: u16, actual: u16, error: String },
    #[error("{field} must be {expected}, got {actual}")]
    Field { field: &'static str, expected: String, actual: Value },
    #[error("the body does not contain {0}")]
    Content(String),
}

#[derive(Debug, Clone)]
pub enum Part {
    Equals(Value),
    Text,
    AboveZero,
    /// The health status, which is degraded before the first import.
    Health,
    Contains(String),
    /// At least one row in the list has a string in this field.
    RowWith(&'static str),
}

/// The expected status and parts of a response. JSON pointers identify the parts.
#[derive(Debug, Clone)]
pub struct Expectation {
    status: u16,
    parts: Vec<(&'static str, Part)>,
}

impl Expectation {
    pub fn success(parts: impl Into<Vec<(&'static str, Part)>>) -> Self {
        Self { status: 200, parts: parts.into() }
    }

    /// Expects an error response with this status and code.
    pub fn error(status: u16, error: &str) -> Self {
        Self { status, parts: vec![("/error", Part::Equals(json!(error)))] }
    }

    pub fn with(mut self, field: &'static str, part: Part) -> Self {
        self.parts.push((field, part));
        self
    }

    pub fn compare(&self, Response { status, body }: &Response) -> Result<(), CheckError> {
        if *status != self.status {
            let error = body["error"].as_str().unwrap_or("no error").to_owned();
            return Err(CheckError::Status { expected: self.status, actual: *status, error });
        }
        self.parts.iter().try_for_each(|(field, part)| part.compare(field, body))
    }
}

impl Part {
    fn compare(&self, field: &'static str, body: &Value) -> Result<(), CheckError> {
        let actual = body.pointer(field).unwrap_or(&Value::Null);
        let (is_right, expected) = match self {
            Self::Equals(expected) => (actual == expected, expected.to_string()),
            Self::Text => (actual.is_string(), "a string".to_owned()),
            Self::AboveZero => {
                (actual.as_u64().is_some_and(|number| number > 0), "a number above 0".to_owned())
            }
            Self::Health => {
                let is_empty = body["last_ingestion"].is_null();
                let expected = if is_empty { "degraded" } else { "healthy" };
                (actual == expected, expected.to_owned())
            }
            Self::Contains(text) => {
                (body.as_str().is_some_and(|body| body.contains(text)), format!("{text:?}"))
            }
            Self::RowWith(name) => {
                let mut rows = actual.as_array().into_iter().flatten();
                (rows.any(|row| row[name].is_string()), format!("a row with {name}"))
            }
        };
        match self {
            _ if is_right => Ok(()),
            Self::Contains(_) | Self::RowWith(_) => Err(CheckError::Content(expected)),
            _ => Err(CheckError::Field { field, expected, actual: actual.clone() }),
        }
    }
}
