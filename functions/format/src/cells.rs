//! Format results as CSV cells: the same columns for every number, in a fixed order.
//!
//! A column is named after its result field, in snake case with the prefix `tn_`. The prefix avoids clashes with the
//! source file's columns, such as `country` and `type`. Flag links are omitted, since they follow from the country and
//! state codes.
//!
//! An invalid number's formats stay empty, so that they are not mistaken for a valid number.

use std::{borrow::Cow, collections::BTreeSet};

use formatting::Formats;
use shared::cells::escape_formula;

use super::{
    FormatResult,
    extras::{
        Assignment, CallingHours, Extra, Include, LineInfo, NetworkInfo, PlaceInfo, ReasonInfo,
        hhmm,
    },
    fields::Fields,
    options::Options,
};

/// Renders one cell of a result. Missing fields are empty, and no cell is a spreadsheet formula.
type RenderCell = for<'a> fn(&'a FormatResult) -> Cow<'a, str>;

/// A result column.
#[derive(Debug)]
pub struct Column {
    pub name: &'static str,
    pub cell: RenderCell,
    /// The optional field that the column belongs to.
    pub extra: Option<Extra>,
}

/// The result columns, in order.
pub static COLUMNS: [Column; 49] = [
    column("tn_valid", |it| boolean(Some(it.valid))),
    column("tn_possible", |it| boolean(Some(it.possible))),
    column("tn_input", |it| text(Some(&it.input))),
    column("tn_e164", |it| format(it, |formats| &formats.e164)),
    column("tn_international", |it| format(it, |formats| &formats.international)),
    column("tn_national", |it| format(it, |formats| &formats.national)),
    column("tn_rfc3966", |it| format(it, |formats| &formats.rfc3966)),
    column("tn_country_code", |it| text(it.country_code.as_ref())),
    column("tn_country_calling_code", |it| text(it.country_calling_code.as_ref())),
    column("tn_country", |it| text(it.country.as_ref())),
    column("tn_country_name", |it| text(field(&it.location, |it| Some(it.country_name)))),
    column("tn_national_number", |it| text(it.national_number.as_ref())),
    column("tn_npa", |it| code(it.npa)),
    column("tn_nxx", |it| code(it.nxx)),
    column("tn_nxxx", |it| text(it.nxxx.as_ref())),
    column("tn_extension", |it| text(it.extension.as_ref())),
    column("tn_type", |it| code(it.number_type)),
    column("tn_type_description", |it| text(it.type_description)),
    column("tn_rate_center", |it| text(field(&it.location, |it| it.rate_center.as_deref()))),
    column("tn_state", |it| code(field(&it.location, |it| it.state))),
    column("tn_state_name", |it| text(field(&it.location, |it| it.state_name))),
    column("tn_carrier_ocn", |it| code(field(&it.carrier, |it| it.ocn))),
    column("tn_carrier_name", |it| text(field(&it.carrier, |it| it.name.as_deref()))),
    column("tn_carrier_type", |it| code(field(&it.carrier, |it| it.carrier_type))),
    column("tn_is_non_geographic", |it| boolean(it.is_non_geographic)),
    extra("tn_reason", Extra::Reason, |it| text(field(reason(it), |it| Some(it.code)))),
    extra("tn_other", Extra::Reason, |it| text(field(reason(it), |it| it.other.as_deref()))),
    extra("tn_line_type", Extra::Line, |it| code(field(line(it), |it| it.line_type))),
    extra("tn_line_basis", Extra::Line, |it| code(field(line(it), |it| it.basis))),
    extra("tn_line_may_differ_if_ported", Extra::Line, |it| {
        boolean(field(line(it), |it| it.may_differ_if_ported))
    }),
    extra("tn_line_everyday_name", Extra::Line, |it| {
        text(field(line(it), |it| it.everyday_name.as_deref()))
    }),
    extra("tn_assignment_verdict", Extra::Assignment, |it| {
        code(field(assignment(it), |it| Some(it.verdict)))
    }),
    extra("tn_assignment_reason", Extra::Assignment, |it| {
        text(field(assignment(it), |it| Some(it.reason.as_str())))
    }),
    extra("tn_assignment_area_code_status", Extra::Assignment, |it| {
        code(field(assignment(it), |it| Some(it.area_code.as_ref()?.status)))
    }),
    extra("tn_assignment_area_code_in_service_on", Extra::Assignment, |it| {
        code(field(assignment(it), |it| it.area_code.as_ref()?.in_service_on))
    }),
    extra("tn_assignment_exchange_status", Extra::Assignment, |it| {
        code(field(assignment(it), |it| Some(it.exchange.as_ref()?.status)))
    }),
    extra("tn_assignment_block_ocn", Extra::Assignment, |it| {
        code(field(assignment(it), |it| it.block.as_ref()?.ocn))
    }),
    extra("tn_assignment_block_name", Extra::Assignment, |it| {
        text(field(assignment(it), |it| it.block.as_ref()?.name.as_deref()))
    }),
    extra("tn_assignment_block_effective_from", Extra::Assignment, |it| {
        code(field(assignment(it), |it| it.block.as_ref()?.effective_from))
    }),
    extra("tn_time_zones", Extra::Timezone, |it| {
        let zones = it.time_zones.iter().flatten().flatten().map(|zone| zone.zone);
        Cow::Owned(zones.collect::<Vec<_>>().join(" "))
    }),
    extra("tn_calling_hours_status", Extra::Timezone, |it| {
        code(field(calling_hours(it), |it| Some(it.status)))
    }),
    extra("tn_calling_hours_rule", Extra::Timezone, |it| {
        text(field(calling_hours(it), |it| Some(it.rule)))
    }),
    extra("tn_calling_hours_window_from", Extra::Timezone, |it| {
        code(field(calling_hours(it), |it| Some(hhmm(it.window.from))))
    }),
    extra("tn_calling_hours_window_to", Extra::Timezone, |it| {
        code(field(calling_hours(it), |it| Some(hhmm(it.window.to))))
    }),
    extra("tn_place_name", Extra::Place, |it| text(field(place(it), |it| Some(it.name)))),
    extra("tn_place_language", Extra::Place, |it| text(field(place(it), |it| Some(it.language)))),
    extra("tn_place_basis", Extra::Place, |it| code(field(place(it), |it| Some(it.basis)))),
    extra("tn_network_name", Extra::Network, |it| text(field(network(it), |it| Some(it.name)))),
    extra("tn_network_basis", Extra::Network, |it| code(field(network(it), |it| Some(it.basis)))),
];

/// The last column, which contains the error if a number has no result.
const ERROR_COLUMN: &str = "tn_error";

/// The result columns in a CSV response.
pub struct Columns(Vec<&'static Column>);

impl Columns {
    /// The columns a client requests.
    pub fn new(options: &Options) -> Self {
        match &options.fields {
            Some(fields) => Self(columns_for(fields).collect()),
            None => Self(columns_with(&options.include).collect()),
        }
    }

    /// The names of these columns, followed by [`ERROR_COLUMN`].
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|column| column.name).chain([ERROR_COLUMN])
    }

    /// A result's cells. Without a result, all cells are empty.
    pub fn cells<'a>(
        &self,
        result: Option<&'a FormatResult>,
    ) -> impl Iterator<Item = Cow<'a, str>> {
        self.0.iter().map(move |column| result.map_or(EMPTY_CELL, column.cell))
    }
}

const EMPTY_CELL: Cow<'static, str> = Cow::Borrowed("");

/// All columns except those of optional fields that are not included.
pub fn columns_with(include: &Include) -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(|column| column.extra.is_none_or(|extra| include.contains(extra)))
}

/// The columns for these fields.
pub fn columns_for(fields: &Fields) -> impl Iterator<Item = &'static Column> {
    let wanted: BTreeSet<String> = fields.leaves().map(column_name).collect();
    COLUMNS.iter().filter(move |column| wanted.contains(column.name))
}

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

const fn column(name: &'static str, cell: RenderCell) -> Column {
    Column { name, cell, extra: None }
}

const fn extra(name: &'static str, extra: Extra, cell: RenderCell) -> Column {
    Column { name, cell, extra: Some(extra) }
}

/// A field in an optional part of the result; `None` if the part is missing.
fn field<'a, P, T>(part: &'a Option<P>, field: fn(&'a P) -> Option<T>) -> Option<T> {
    part.as_ref().and_then(field)
}

fn reason(result: &FormatResult) -> &Option<ReasonInfo> {
    result.reason.as_ref().unwrap_or(&None)
}

fn line(result: &FormatResult) -> &Option<LineInfo> {
    result.line.as_ref().unwrap_or(&None)
}

fn assignment(result: &FormatResult) -> &Option<Assignment> {
    result.assignment.as_ref().unwrap_or(&None)
}

fn calling_hours(result: &FormatResult) -> &Option<CallingHours> {
    result.calling_hours.as_ref().unwrap_or(&None)
}

fn place(result: &FormatResult) -> &Option<PlaceInfo> {
    result.place.as_ref().unwrap_or(&None)
}

fn network(result: &FormatResult) -> &Option<NetworkInfo> {
    result.network.as_ref().unwrap_or(&None)
}

fn format(result: &FormatResult, notation: fn(&Formats) -> &String) -> Cow<'_, str> {
    text(result.formats.as_ref().filter(|_| result.valid).map(notation))
}

fn boolean(value: Option<bool>) -> Cow<'static, str> {
    value.map_or(EMPTY_CELL, |value| Cow::Borrowed(if value { "true" } else { "false" }))
}

fn text<'a, T: AsRef<str> + ?Sized>(value: Option<&'a T>) -> Cow<'a, str> {
    value.map_or(EMPTY_CELL, |value| escape_formula(value.as_ref()))
}

/// A code as text. No code starts like a formula.
fn code(code: Option<impl ToString>) -> Cow<'static, str> {
    code.map_or(EMPTY_CELL, |code| Cow::Owned(code.to_string()))
}

#[cfg(test)]
mod tests {
    use formatting::{DefaultCountry, PhoneNumber};
    use numbering::{records::Exchange, time::today};
    use serde_json::{Value, json};

    use super::*;
    use crate::block::{BlockRecords, tests::exchange};

    /// The non-empty cells for a number in this company's exchange, by column.
    fn cells(text: &str, company_name: &str) -> Value {
        let number = PhoneNumber::parse(text, DefaultCountry::default());
        let (company_name, state) = (Some(company_name.to_owned()), Some("FL".parse().unwrap()));
        let exchange = Some(Exchange { company_name, state, blocks: [].into(), ..exchange() });
        let records = BlockRecords { exchange, area_code: None };
        let result = FormatResult::new(text, number, records, today(), Some("https://a.example"));
        let cells = COLUMNS.iter().map(|column| (column.name, (column.cell)(&result)));
        cells.filter(|(_, cell)| !cell.is_empty()).collect()
    }

    #[test]
    fn every_result_field_has_a_cell() {
        let expected = json!({
            "tn_valid": "true", "tn_possible": "true", "tn_input": "+13052345678", "tn_e164": "+13052345678",
            "tn_international": "'+1 305 234 5678 ext 42", "tn_national": "(305) 234-5678 ext. 42",
            "tn_rfc3966": "tel:+1-305-234-5678;ext=42", "tn_country_code": "1", "tn_country_calling_code": "+1",
            "tn_country": "US", "tn_country_name": "United States", "tn_national_number": "3052345678",
            "tn_npa": "305", "tn_nxx": "234", "tn_nxxx": "5678", "tn_extension": "42",
            "tn_type": "FIXED_LINE_OR_MOBILE", "tn_type_description": "Landline or Mobile",
            "tn_rate_center": "VALDEZ", "tn_state": "FL", "tn_state_name": "Florida",
            "tn_carrier_ocn": "6872", "tn_carrier_name": "A, B", "tn_carrier_type": "CLEC",
            "tn_is_non_geographic": "false"
        });
        assert_eq!(cells("305 234 5678 x42", "A, B"), expected);
        let fields = Fields::from_type::<FormatResult>().without("flags");
        let columns: BTreeSet<String> = fields.leaves().map(column_name).collect();
        assert_eq!(columns, COLUMNS.iter().map(|column| column.name.to_owned()).collect());
    }

    #[test]
    fn invalid_numbers_have_no_formats_and_no_cell_is_a_formula() {
        let expected = json!({ "tn_valid": "false", "tn_possible": "false", "tn_input": "hello" });
        assert_eq!(cells("hello", ""), expected);
        let invalid = cells("305 234", "");
        assert_eq!(
            (&invalid["tn_valid"], &invalid["tn_input"]),
            (&json!("false"), &json!("+1305234"))
        );
        for format in ["tn_e164", "tn_international", "tn_national", "tn_rfc3966"] {
            assert_eq!(invalid[format], Value::Null, "{format}");
        }
        let cells = cells("305 234 5678", "=HYPERLINK(\"http://a.example\")");
        assert_eq!(cells["tn_carrier_name"], "'=HYPERLINK(\"http://a.example\")");
    }
}
