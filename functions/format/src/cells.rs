//! A format result as flat cells, for rows of CSV: the same columns for every number, in an order that
//! does not change.
//!
//! A column is named like the field of the result that it has, in snake case after `tn_`. So the columns
//! can stand beside those of the file that a number came from, which may have a `country` and a `type`
//! of its own. The links to flags are left out: they follow from the codes of country and state.

use std::borrow::Cow;

use shared::cells::inert;

use super::{FormatResult, block::CarrierInfo};

/// The columns of a format result, in the order of [`FormatResult::cells`].
pub const COLUMNS: [&str; 23] = [
    "tn_valid",
    "tn_possible",
    "tn_e164",
    "tn_international",
    "tn_national",
    "tn_rfc3966",
    "tn_country_code",
    "tn_country",
    "tn_country_name",
    "tn_national_number",
    "tn_npa",
    "tn_nxx",
    "tn_nxxx",
    "tn_extension",
    "tn_type",
    "tn_type_description",
    "tn_rate_center",
    "tn_state",
    "tn_state_name",
    "tn_carrier_ocn",
    "tn_carrier_name",
    "tn_carrier_type",
    "tn_is_non_geographic",
];

/// The column that says why a number has no result. It stands after [`COLUMNS`].
pub const ERROR_COLUMN: &str = "tn_error";

/// The cells of a number without a result.
pub const NO_CELLS: [Cow<'static, str>; COLUMNS.len()] =
    [const { Cow::Borrowed("") }; COLUMNS.len()];

impl FormatResult {
    /// The result as a row of [`COLUMNS`]. A field that is absent is empty, and no cell is a formula in
    /// a spreadsheet.
    pub fn cells(&self) -> [Cow<'_, str>; COLUMNS.len()] {
        let formats = self.formats.as_ref();
        let location = self.location.as_ref();
        let carrier = self.carrier.as_ref();
        [
            boolean(self.valid),
            boolean(self.possible),
            text(formats.map(|formats| &formats.e164)),
            text(formats.map(|formats| &formats.international)),
            text(formats.map(|formats| &formats.national)),
            text(formats.map(|formats| &formats.rfc3966)),
            text(self.country_code.as_ref()),
            text(self.country.as_ref()),
            text(location.map(|location| location.country_name)),
            text(self.national_number.as_ref()),
            written(self.npa),
            written(self.nxx),
            text(self.nxxx.as_ref()),
            text(self.extension.as_ref()),
            written(self.number_type),
            text(self.type_description),
            text(location.and_then(|location| location.rate_center.as_ref())),
            written(location.and_then(|location| location.state)),
            text(location.and_then(|location| location.state_name)),
            written(carrier.and_then(|CarrierInfo { ocn, .. }| *ocn)),
            text(carrier.and_then(|CarrierInfo { name, .. }| name.as_ref())),
            written(carrier.and_then(|CarrierInfo { carrier_type, .. }| *carrier_type)),
            self.is_non_geographic.map_or(Cow::Borrowed(""), boolean),
        ]
    }
}

fn boolean(value: bool) -> Cow<'static, str> {
    Cow::Borrowed(if value { "true" } else { "false" })
}

fn text<'a, T: AsRef<str> + ?Sized>(value: Option<&'a T>) -> Cow<'a, str> {
    value.map_or(Cow::Borrowed(""), |value| inert(value.as_ref()))
}

/// A code as it is written everywhere. No code begins a formula.
fn written(code: Option<impl ToString>) -> Cow<'static, str> {
    code.map_or(Cow::Borrowed(""), |code| Cow::Owned(code.to_string()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use formatting::{DefaultCountry, PhoneNumber};
    use numbering::{
        records::{CarrierType, Country, Exchange, Status},
        time::today,
    };
    use serde_json::{Value, json};
    use utoipa::{PartialSchema, ToSchema};

    use super::*;
    use crate::block::BlockRecords;

    /// The result for a number in an exchange of this carrier.
    fn result_of(text: &str, company_name: &str) -> FormatResult {
        let number = PhoneNumber::parse(text, DefaultCountry::default()).unwrap();
        let exchange = Exchange {
            npa: "305".parse().unwrap(),
            nxx: "234".parse().unwrap(),
            ocn: Some("5927".parse().unwrap()),
            company_name: Some(company_name.to_owned()),
            carrier_type: Some(CarrierType::Wireless),
            rate_center: Some("PERRINE".to_owned()),
            state: Some("FL".parse().unwrap()),
            country: Country::Us,
            status: Status::Assigned,
            blocks: Default::default(),
        };
        let records = BlockRecords { exchange: Some(exchange), area_code: None };
        FormatResult::of(number, records, today(), Some("https://flags.example.com"))
    }

    /// The cells by their columns, without the empty ones.
    fn cells_of(result: &FormatResult) -> Value {
        let cells = COLUMNS.into_iter().zip(result.cells()).filter(|(_, cell)| !cell.is_empty());
        cells
            .map(|(column, cell)| (column.to_owned(), cell.into()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    #[test]
    fn a_result_has_a_cell_for_each_of_its_fields() {
        let expected = json!({
            "tn_valid": "true", "tn_possible": "true", "tn_e164": "+13052345678",
            "tn_international": "+1 305 234 5678", "tn_national": "(305) 234-5678",
            "tn_rfc3966": "tel:+1-305-234-5678", "tn_country_code": "1", "tn_country": "US",
            "tn_country_name": "United States", "tn_national_number": "3052345678", "tn_npa": "305",
            "tn_nxx": "234", "tn_nxxx": "5678", "tn_type": "FIXED_LINE_OR_MOBILE",
            "tn_type_description": "Landline or Mobile", "tn_rate_center": "PERRINE",
            "tn_state": "FL", "tn_state_name": "Florida", "tn_carrier_ocn": "5927",
            "tn_carrier_name": "A, B", "tn_carrier_type": "WIRELESS",
            "tn_is_non_geographic": "false"
        });
        assert_eq!(cells_of(&result_of("305 234 5678", "A, B")), expected);
        let with_extension = cells_of(&result_of("305 234 5678 x42", "A, B"));
        assert_eq!(with_extension["tn_extension"], "42");
    }

    #[test]
    fn a_text_that_is_no_number_has_only_the_cells_that_say_so() {
        let unparseable = FormatResult::unparseable("hello");
        let expected = json!({ "tn_valid": "false", "tn_possible": "false" });
        assert_eq!(cells_of(&unparseable), expected);
    }

    #[test]
    fn a_company_is_no_formula_and_a_number_is_one_for_programs() {
        let cells = cells_of(&result_of("305 234 5678", "=HYPERLINK(\"http://a.example\")"));
        assert_eq!(cells["tn_carrier_name"], "'=HYPERLINK(\"http://a.example\")");
        assert_eq!(cells["tn_e164"], "+13052345678");
    }

    /// The paths of the fields of a schema, in snake case, with those of the objects in them.
    fn fields_of(schema: &Value, schemas: &Value) -> Vec<String> {
        let Some(Value::Object(properties)) = schema.get("properties") else { return Vec::new() };
        let paths = properties.iter().flat_map(|(name, property)| {
            let name = name.chars().fold(String::new(), |name, c| match c {
                'A'..='Z' => name + "_" + &c.to_lowercase().to_string(),
                _ => name + &c.to_string(),
            });
            let inner: Vec<String> = match referred(property) {
                Some(referred) => fields_of(&schemas[referred], schemas),
                None => fields_of(property, schemas),
            };
            if inner.is_empty() {
                return vec![name];
            }
            inner.iter().map(|inner| format!("{name}.{inner}")).collect()
        });
        paths.collect()
    }

    /// The name of the schema that a property refers to, alone or beside a description.
    fn referred(property: &Value) -> Option<&str> {
        let parts =
            ["allOf", "oneOf"].iter().filter_map(|kind| property[kind].as_array()).flatten();
        let mut references = [property].into_iter().chain(parts);
        references.find_map(|part| part["$ref"].as_str()?.rsplit('/').next())
    }

    /// A field that is added to the result, and has no column, would be missed by nobody else.
    #[test]
    fn every_field_of_the_result_has_a_column_but_for_the_flags_and_what_repeats_others() {
        const REPEATS: [&str; 3] = ["input", "country_calling_code", "location.country"];
        let mut schemas = Vec::new();
        FormatResult::schemas(&mut schemas);
        let schemas: serde_json::Map<String, Value> = schemas
            .into_iter()
            .map(|(name, schema)| (name, serde_json::to_value(schema).unwrap()))
            .collect();
        let result = serde_json::to_value(FormatResult::schema()).unwrap();
        let fields = fields_of(&result, &schemas.into());
        assert!(REPEATS.iter().all(|field| fields.iter().any(|it| it == field)), "{fields:?}");
        let columns: BTreeSet<String> = fields
            .iter()
            .filter(|field| !REPEATS.contains(&field.as_str()) && !field.starts_with("flags."))
            .map(|field| {
                let name = field.trim_start_matches("formats.").trim_start_matches("location.");
                format!("tn_{}", name.replace('.', "_"))
            })
            .collect();
        assert_eq!(columns, COLUMNS.map(str::to_owned).into());
    }
}
