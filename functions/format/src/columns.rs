//! The CSV columns of all fields, and the choice of some.

use std::{borrow::Cow, collections::BTreeSet};

use super::{
    FormatResult,
    cells::{COLUMNS, Column, column_name},
    fields::Fields,
    include::{EXTRAS, Include},
    options::Options,
};

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
        self.0.iter().map(move |it| result.map(|result| it.cell(result)).unwrap_or_default())
    }
}

/// The columns of the fields that every result has, and of these optional ones.
pub fn columns_with(include: &Include) -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().chain(include.extras().flat_map(|extra| extra.columns))
}

/// The columns for these fields.
pub fn columns_for(fields: &Fields) -> impl Iterator<Item = &'static Column> {
    let wanted: BTreeSet<String> = fields.leaves().map(column_name).collect();
    let all = COLUMNS.iter().chain(EXTRAS.iter().flat_map(|extra| extra.columns));
    all.filter(move |column| wanted.contains(column.name))
}

#[cfg(test)]
mod tests {
    use formatting::{DefaultCountry, Languages, PhoneNumber};
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        assemble::Assembler,
        tests::records::{carrier, dataset, exchange},
    };

    /// The non-empty cells for a number in this company's exchange, by column.
    fn cells(text: &str, company: &str) -> Value {
        let (include, languages) = (&Include::default(), &Languages::default());
        let flags_base_url = Some("https://a.example");
        let assembler = Assembler { include, languages, flags_base_url, now: Timestamp::now() };
        let holder = json!({ "ocn": "6872", "company_name": company, "carrier_type": "CLEC" });
        let exchange = exchange("305-234", json!({ "state": "FL" }));
        let dataset = dataset([carrier(holder)], [], [exchange]);
        let country = DefaultCountry::default();
        let number = PhoneNumber::parse(text, country);
        let result = assembler.describe(text, country, number, Some(&dataset));
        let cells = COLUMNS.iter().map(|column| (column.name, column.cell(&result)));
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
        let everything = Include::all();
        let all = columns_with(&everything).map(|column| column.name.to_owned());
        assert_eq!(columns, all.collect());
    }

    #[test]
    fn invalid_numbers_have_no_formats_and_no_cell_is_a_formula() {
        let expected = json!({ "tn_valid": "false", "tn_possible": "false", "tn_input": "hello" });
        assert_eq!(cells("hello", ""), expected);
        let invalid = cells("305 234", "");
        assert_eq!([&invalid["tn_valid"], &invalid["tn_input"]], ["false", "+1305234"]);
        for format in ["tn_e164", "tn_international", "tn_national", "tn_rfc3966"] {
            assert_eq!(invalid[format], Value::Null, "{format}");
        }
        let formula = "=HYPERLINK(\"http://a.example\")";
        assert_eq!(cells("305 234 5678", formula)["tn_carrier_name"], format!("'{formula}"));
    }
}
