//! A format result as flat cells for CSV rows: the same columns for every number, in a fixed order.
//!
//! A column is named after its result field, in snake case with the prefix `tn_`. The prefix avoids clashes with the
//! source file's columns, which may include `country` and `type`. Links to flags are left out: they follow from the
//! country and state codes.
//!
//! The formats of an invalid number are left empty, so that none is mistaken for a number.

use std::{borrow::Cow, collections::BTreeSet};

use shared::cells::inert;

use super::{FormatResult, block::CarrierInfo, include::Extra, options::Options};

/// The columns of a format result, in the order of [`FormatResult::cells`].
pub const COLUMNS: [&str; 27] = [
    "tn_valid",
    "tn_possible",
    "tn_input",
    "tn_e164",
    "tn_international",
    "tn_national",
    "tn_rfc3966",
    "tn_country_code",
    "tn_country_calling_code",
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
    "tn_reason",
    "tn_other",
];

/// The position of the first column that is present only if [`Extra::Reason`] is requested.
pub const FIRST_OF_REASON: usize = 25;

/// The column with the error of a number without a result. Comes last.
pub const ERROR_COLUMN: &str = "tn_error";

/// The positions of an answer's columns in [`COLUMNS`].
pub struct Columns(Vec<usize>);

impl Columns {
    /// The columns a client requests.
    pub fn new(options: &Options) -> Self {
        let all = 0..COLUMNS.len();
        Self(match &options.fields {
            None if options.has(Extra::Reason) => all.collect(),
            None => (0..FIRST_OF_REASON).collect(),
            Some(fields) => {
                let wanted: BTreeSet<String> =
                    fields.leaves().map(|path| column_of(&path)).collect();
                all.filter(|&column| wanted.contains(COLUMNS[column])).collect()
            }
        })
    }

    /// The names of these columns, and [`ERROR_COLUMN`].
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|&column| COLUMNS[column]).chain([ERROR_COLUMN])
    }

    /// A result's cells; empty without a result.
    pub fn cells<'a>(
        &self,
        result: Option<&'a FormatResult>,
    ) -> impl Iterator<Item = Cow<'a, str>> {
        let mut cells = result.map_or([NO_CELL; _], FormatResult::cells);
        self.0.iter().map(move |&column| std::mem::take(&mut cells[column]))
    }
}

const NO_CELL: Cow<'static, str> = Cow::Borrowed("");

/// The column for the field at a path. A reason has only its code, which implies the message.
pub fn column_of(path: &str) -> String {
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

impl FormatResult {
    /// The result as a row of [`COLUMNS`]. A missing field is empty, and no cell is a spreadsheet formula.
    pub fn cells(&self) -> [Cow<'_, str>; COLUMNS.len()] {
        let formats = self.formats.as_ref().filter(|_| self.valid);
        let location = self.location.as_ref();
        let carrier = self.carrier.as_ref();
        let reason = self.reason.as_ref().and_then(Option::as_ref);
        [
            boolean(self.valid),
            boolean(self.possible),
            text(Some(&self.input)),
            text(formats.map(|formats| &formats.e164)),
            text(formats.map(|formats| &formats.international)),
            text(formats.map(|formats| &formats.national)),
            text(formats.map(|formats| &formats.rfc3966)),
            text(self.country_code.as_ref()),
            text(self.country_calling_code.as_ref()),
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
            self.is_non_geographic.map_or(NO_CELL, boolean),
            text(reason.map(|reason| reason.code)),
            text(reason.and_then(|reason| reason.other.as_ref())),
        ]
    }
}

fn boolean(value: bool) -> Cow<'static, str> {
    Cow::Borrowed(if value { "true" } else { "false" })
}

fn text<'a, T: AsRef<str> + ?Sized>(value: Option<&'a T>) -> Cow<'a, str> {
    value.map_or(NO_CELL, |value| inert(value.as_ref()))
}

/// A code as text. No code starts like a formula.
fn written(code: Option<impl ToString>) -> Cow<'static, str> {
    code.map_or(NO_CELL, |code| Cow::Owned(code.to_string()))
}

#[cfg(test)]
mod tests {
    use formatting::{DefaultCountry, PhoneNumber};
    use numbering::{
        records::{CarrierType, Country, Exchange, Status},
        time::today,
    };
    use serde_json::{Value, json};

    use super::*;
    use crate::{block::BlockRecords, fields::Fields};

    /// The result for a number in this carrier's exchange.
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
        FormatResult::new(number, records, today(), Some("https://flags.example.com"))
    }

    /// The non-empty cells by column.
    fn cells_of(result: &FormatResult) -> Value {
        let cells = COLUMNS.into_iter().zip(result.cells()).filter(|(_, cell)| !cell.is_empty());
        cells
            .map(|(column, cell)| (column.to_owned(), cell.into()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    #[test]
    fn every_result_field_has_a_cell() {
        let expected = json!({
            "tn_valid": "true", "tn_possible": "true", "tn_input": "+13052345678", "tn_e164": "+13052345678",
            "tn_international": "+1 305 234 5678", "tn_national": "(305) 234-5678",
            "tn_rfc3966": "tel:+1-305-234-5678", "tn_country_code": "1", "tn_country_calling_code": "+1", "tn_country": "US",
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
    fn unparseable_text_has_only_its_input_and_verdict() {
        let unparseable = FormatResult::unparseable("hello");
        let expected = json!({ "tn_valid": "false", "tn_possible": "false", "tn_input": "hello" });
        assert_eq!(cells_of(&unparseable), expected);
    }

    #[test]
    fn invalid_number_has_no_formats_and_company_is_not_a_formula() {
        let cells = cells_of(&result_of("305 234", "A, B"));
        assert_eq!((&cells["tn_valid"], &cells["tn_input"]), (&json!("false"), &json!("+1305234")));
        for format in ["tn_e164", "tn_international", "tn_national", "tn_rfc3966"] {
            assert_eq!(cells[format], Value::Null, "{format}");
        }
        let cells = cells_of(&result_of("305 234 5678", "=HYPERLINK(\"http://a.example\")"));
        assert_eq!(cells["tn_carrier_name"], "'=HYPERLINK(\"http://a.example\")");
    }

    #[test]
    fn every_field_except_flags_has_a_column() {
        let fields = Fields::from_type::<FormatResult>();
        let leaves = fields.leaves().filter(|path| !path.starts_with("flags."));
        let columns: BTreeSet<String> = leaves.map(|path| column_of(&path)).collect();
        assert_eq!(columns, COLUMNS.map(str::to_owned).into());
    }
}
