//! Format results as CSV cells: the same columns for every number, in a fixed order.
//!
//! A column is named after its result field, in snake case with the prefix `tn_`. The prefix avoids clashes with the
//! source file's columns, such as `country` and `type`. Flag links are omitted, since they follow from the country and
//! state codes.
//!
//! An invalid number's formats stay empty, so that they are not mistaken for a valid number.

use std::borrow::Cow;

use formatting::Formats;
use shared::cells::escape_formula;

use super::FormatResult;

/// A cell, which is never a spreadsheet formula; `None` if the result does not have the field.
pub type Cell<'a> = Option<Cow<'a, str>>;

#[derive(Debug)]
pub struct Column {
    pub name: &'static str,
    cell: for<'a> fn(&'a FormatResult) -> Cell<'a>,
}

impl Column {
    /// The result's cell; empty if the field is missing.
    pub fn cell<'a>(&self, result: &'a FormatResult) -> Cow<'a, str> {
        (self.cell)(result).unwrap_or_default()
    }
}

pub const fn column(name: &'static str, cell: for<'a> fn(&'a FormatResult) -> Cell<'a>) -> Column {
    Column { name, cell }
}

/// The columns of the fields that every result has, in order.
pub static COLUMNS: [Column; 25] = [
    column("tn_valid", |it| boolean(it.valid)),
    column("tn_possible", |it| boolean(it.possible)),
    column("tn_input", |it| text(&it.input)),
    column("tn_e164", |it| text(&valid_formats(it)?.e164)),
    column("tn_international", |it| text(&valid_formats(it)?.international)),
    column("tn_national", |it| text(&valid_formats(it)?.national)),
    column("tn_rfc3966", |it| text(&valid_formats(it)?.rfc3966)),
    column("tn_country_code", |it| text(it.country_code.as_deref()?)),
    column("tn_country_calling_code", |it| text(it.country_calling_code.as_deref()?)),
    column("tn_country", |it| text(it.country.as_deref()?)),
    column("tn_country_name", |it| text(it.location.as_ref()?.country_name)),
    column("tn_national_number", |it| text(it.national_number.as_deref()?)),
    column("tn_npa", |it| code(it.npa?)),
    column("tn_nxx", |it| code(it.nxx?)),
    column("tn_nxxx", |it| text(it.nxxx.as_deref()?)),
    column("tn_extension", |it| text(it.extension.as_deref()?)),
    column("tn_type", |it| code(it.number_type?)),
    column("tn_type_description", |it| text(it.type_description?)),
    column("tn_rate_center", |it| text(it.location.as_ref()?.rate_center.as_deref()?)),
    column("tn_state", |it| code(it.location.as_ref()?.state?)),
    column("tn_state_name", |it| text(it.location.as_ref()?.state_name?)),
    column("tn_carrier_ocn", |it| code(it.carrier.as_ref()?.ocn?)),
    column("tn_carrier_name", |it| text(it.carrier.as_ref()?.name.as_deref()?)),
    column("tn_carrier_type", |it| code(it.carrier.as_ref()?.carrier_type?)),
    column("tn_is_non_geographic", |it| boolean(it.is_non_geographic?)),
];

/// The name of the column for the field at a path. A reason has only a code column, since the code implies the message.
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

fn valid_formats(result: &FormatResult) -> Option<&Formats> {
    result.formats.as_ref().filter(|_| result.valid)
}

pub fn boolean(value: bool) -> Cell<'static> {
    Some(if value { "true" } else { "false" }.into())
}

pub fn text(text: &str) -> Cell<'_> {
    Some(escape_formula(text))
}

/// A code as text. No code starts like a formula.
pub fn code(code: impl ToString) -> Cell<'static> {
    Some(code.to_string().into())
}
