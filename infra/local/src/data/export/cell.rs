//! A value in a row of an export.

use std::borrow::Cow;

use serde::Serialize;

/// A value in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    Null,
    Text(Cow<'static, str>),
    Count(u32),
}

impl Cell {
    /// Converts the value to text.
    pub fn into_text(self) -> Self {
        match self {
            Self::Count(count) => Self::Text(count.to_string().into()),
            other => other,
        }
    }
}

pub(super) fn code(code: impl ToString) -> Cell {
    Cell::Text(code.to_string().into())
}

pub(super) fn optional(value: Option<impl ToString>) -> Cell {
    value.map_or(Cell::Null, code)
}
