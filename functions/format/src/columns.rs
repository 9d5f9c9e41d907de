//! Format results as CSV cells: the same columns for every number, in a fixed order.
//!
//! A column has the name of its result field, in snake case with the prefix `tn_`. The prefix avoids clashes with the
//! source file's columns, such as `country` and `type`. Flag links are omitted, since they can be built from the
//! country and state codes.

use std::borrow::Cow;

use serde_json::Value;
use shared::cells::escape_formula;

/// The last column of a response, with the error if a number has no result.
pub const ERROR_COLUMN: &str = "tn_error";

#[derive(Debug)]
pub struct Column {
    pub name: String,
    /// The field's path in a result.
    path: &'static str,
    /// The value for `include` that adds the field; `None` if every result has it.
    pub extra: Option<&'static str>,
}

/// The paths of the fields that every result has.
pub const ALWAYS: &str = "valid possible input formats.e164 formats.international formats.national formats.rfc3966 \
    countryCode countryCallingCode country location.countryName nationalNumber npa nxx nxxx extension type \
    typeDescription location.rateCenter location.state location.stateName carrier.ocn carrier.name carrier.type \
    isNonGeographic";

/// The column name for the field at a path. A reason only has a code column, because the code implies the message.
pub fn column_name(path: &str) -> String {
    let name = match path {
        "reason.code" | "reason.message" => "reason",
        "reason.other" => "other",
        path => path.trim_start_matches("formats.").trim_start_matches("location."),
    };
    name.chars().fold("tn_".to_owned(), |column, c| match c {
        '.' => column + "_",
        'A'..='Z' => column + "_" + &c.to_lowercase().to_string(),
        _ => column + &c.to_string(),
    })
}

/// The top-level result field that contains the field at a path.
pub fn top_level_field(path: &str) -> &str {
    path.split('.').next().unwrap_or_default()
}

impl Column {
    /// The columns for the fields at these paths.
    pub fn at(paths: &'static str, extra: Option<&'static str>) -> impl Iterator<Item = Self> {
        paths.split(' ').map(move |path| Self { name: column_name(path), path, extra })
    }

    /// The cell for a JSON result, which is never a spreadsheet formula. Empty if the field is missing. The formats of
    /// an invalid number are also empty, so that they are not mistaken for a valid number.
    pub fn cell<'a>(&self, result: &'a Value) -> Cow<'a, str> {
        if top_level_field(self.path) == "formats" && result["valid"] == false {
            return Cow::default();
        }
        match self.path.split('.').fold(result, |value, name| &value[name]) {
            Value::Null => Cow::default(),
            Value::String(text) => escape_formula(text),
            // Time zones are the only list.
            Value::Array(zones) => zones
                .iter()
                .filter_map(|it| it["zone"].as_str())
                .collect::<Vec<_>>()
                .join(" ")
                .into(),
            other => other.to_string().into(),
        }
    }
}
