//! The expected answer: its status and parts.

use serde_json::{Value, json};

use crate::api::{Answer, NoAnswer};

/// Failure of a check.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error(transparent)]
    NoAnswer(#[from] NoAnswer),
    #[error("the status is {actual} ({error}), and must be {expected}")]
    Status { expected: u16, actual: u16, error: String },
    #[error("{field} is {actual}, and must be {expected}")]
    Field { field: &'static str, expected: String, actual: Value },
    #[error("the body must have {0:?}")]
    Content(String),
}

/// The expected value of a part of an answer.
#[derive(Debug, Clone)]
pub enum Part {
    Is(Value),
    Text,
    AboveZero,
    /// The health status: before the first import a service is degraded.
    Health,
    /// The body contains this text.
    Has(String),
    /// A row of the list has a text field with this name.
    RowWith(&'static str),
}

/// The expected answer. Parts are named by JSON pointers.
#[derive(Debug, Clone)]
pub struct Expectation {
    status: u16,
    parts: Vec<(&'static str, Part)>,
}

impl Expectation {
    /// A success with these parts.
    pub fn success(parts: impl Into<Vec<(&'static str, Part)>>) -> Self {
        Self { status: 200, parts: parts.into() }
    }

    /// An error response with this status and error name.
    pub fn refusal(status: u16, error: &str) -> Self {
        Self { status, parts: vec![("/error", Part::Is(json!(error)))] }
    }

    pub fn with(mut self, field: &'static str, part: Part) -> Self {
        self.parts.push((field, part));
        self
    }

    /// Compares an answer with this expectation.
    pub fn compare(&self, Answer { status, body }: &Answer) -> Result<(), CheckError> {
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
            Self::Is(expected) => (actual == expected, expected.to_string()),
            Self::Text => (actual.is_string(), "a text".to_owned()),
            Self::AboveZero => {
                (actual.as_u64().is_some_and(|number| number > 0), "a number above 0".to_owned())
            }
            Self::Health => {
                let is_empty = body["last_ingestion"].is_null();
                let expected = if is_empty { "degraded" } else { "healthy" };
                (actual == expected, expected.to_owned())
            }
            Self::Has(text) => {
                let has_text = body.as_str().is_some_and(|body| body.contains(text));
                return if has_text { Ok(()) } else { Err(CheckError::Content(text.clone())) };
            }
            Self::RowWith(name) => {
                let mut rows = actual.as_array().into_iter().flatten();
                let has_row = rows.any(|row| row[name].is_string());
                let error = || CheckError::Content(format!("a row with {name}"));
                return if has_row { Ok(()) } else { Err(error()) };
            }
        };
        let actual = actual.clone();
        if is_right { Ok(()) } else { Err(CheckError::Field { field, expected, actual }) }
    }
}
