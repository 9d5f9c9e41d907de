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

pub struct Columns(Vec<&'static Column>);

impl Columns {
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

pub fn columns_for(fields: &Fields) -> impl Iterator<Item = &'static Column> {
    let wanted: BTreeSet<String> = fields.leaves().map(column_name).collect();
    let all = COLUMNS.iter().chain(EXTRAS.iter().flat_map(|extra| extra.columns));
    all.filter(move |column| wanted.contains(column.name))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use formatting::{DefaultCountry, Languages, PhoneNumber};
    use jiff::Timestamp;
    use numbering::{
        dataset::Dataset,
        records::{Carrier, Exchange},
    };

    use super::*;
    use crate::assemble::Assembler;

    /// The columns with a cell for a number in this company's exchange.
    fn cells(text: &str, company: &str) -> String {
        let (include, languages) = (&Include::default(), &Languages::default());
        let flags_base_url = Some("https://a.example");
        let assembler = Assembler { include, languages, flags_base_url, now: Timestamp::now() };
        let company_name = Some(company.to_owned());
        let carrier_type = "CLEC".parse().ok();
        let carrier = Carrier { company_name, carrier_type, ..Carrier::sample("6872") };
        let exchange = Exchange {
            ocn: "6872".parse().ok(),
            rate_center: Some("VALDEZ".to_owned()),
            state: "FL".parse().ok(),
            ..Exchange::sample("305-234")
        };
        let dataset = Dataset::new(vec![carrier], Vec::new(), vec![exchange]);
        let country = DefaultCountry::default();
        let number = PhoneNumber::parse(text, country);
        let result = assembler.describe(text, country, number, Some(&dataset));
        let mut cells = format!("= {text}\n");
        for column in &COLUMNS {
            let cell = column.cell(&result);
            if !cell.is_empty() {
                writeln!(cells, "{}: {cell}", column.name).unwrap();
            }
        }
        cells
    }

    #[test]
    fn invalid_numbers_have_no_formats_and_no_cell_is_a_formula() {
        let numbers = [
            ("305 234 5678 x42", "A, B"),
            ("305 234 5678", "=HYPERLINK(\"http://a.example\")"),
            ("305 234", ""),
            ("hello", ""),
        ];
        insta::assert_snapshot!(numbers.map(|(text, company)| cells(text, company)).concat());
    }

    #[test]
    fn every_result_field_has_a_column() {
        let fields = Fields::from_type::<FormatResult>().without("flags");
        let columns: BTreeSet<String> = fields.leaves().map(column_name).collect();
        let everything = Include::all();
        let all = columns_with(&everything).map(|column| column.name.to_owned());
        assert_eq!(columns, all.collect());
    }
}
