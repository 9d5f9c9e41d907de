//! The fields added to a list.

use std::{borrow::Cow, collections::HashSet, str::FromStr};

use format::{
    FormatResult,
    cells::{self, column_name, columns_for, columns_with},
    extras::{Extra, Include},
    fields::Fields,
};

use super::describe::DescribedNumber;

/// The prefix of the names in [`COLUMNS`].
const PREFIX: &str = "tn_";
const VERDICT: &str = "verdict";
pub(super) const LINE_NUMBER: &str = "line_number";

/// A field as a column.
#[derive(Debug, Clone, Copy)]
pub(super) enum Column {
    Field(&'static cells::Column),
    Verdict,
}

/// The fields to write for each number.
#[derive(Debug, Clone)]
pub struct ListFields {
    /// In CSV column order.
    pub(super) columns: Vec<Column>,
    /// `true` to add the line number.
    pub(super) has_line_number: bool,
    /// The optional fields to find.
    pub(super) include: Include,
    /// Fields of [`FormatResult`] in JSON, if any; the inner `None` means all.
    pub(super) json_fields: Option<Option<Fields>>,
}

/// Parses comma-separated names: API paths such as `carrier.name`, or columns with or without `tn_`.
impl FromStr for ListFields {
    type Err = String;

    fn from_str(names: &str) -> Result<Self, String> {
        // Flag URLs need a server.
        let known = Fields::from_type::<FormatResult>().without("flags");
        let selected = |paths: &str| known.select(paths).ok().flatten();
        let (mut columns, mut paths, mut has_line_number) = (Vec::new(), Vec::new(), false);
        for name in names.split(',').map(str::trim) {
            match name {
                VERDICT => columns.push(Column::Verdict),
                LINE_NUMBER => has_line_number = true,
                _ => {
                    let path = find_path(&known, name).ok_or_else(|| {
                        let known = known.leaves().collect::<Vec<_>>().join(", ");
                        format!("unknown field '{name}'; known fields: {known}, {VERDICT}, {LINE_NUMBER}")
                    })?;
                    let fields = selected(path);
                    columns.extend(fields.iter().flat_map(columns_for).map(Column::Field));
                    paths.push(path);
                }
            }
        }
        let mut seen = HashSet::new();
        columns.retain(|column| seen.insert(column.name()));
        let fields = selected(&paths.join(","));
        let include = fields.as_ref().map(Include::from_fields).unwrap_or_default();
        Ok(Self { columns, has_line_number, include, json_fields: fields.map(Some) })
    }
}

impl ListFields {
    /// All fields except the input, which the list already has, and optional fields that are not included.
    pub fn with(include: Include) -> Self {
        let include = include.and(Extra::Reason);
        let columns = columns_with(&include).filter(|column| column.name != "tn_input");
        let (optional, others): (Vec<_>, Vec<_>) =
            columns.map(Column::Field).partition(|column| column.is_optional());
        let columns = [others, vec![Column::Verdict], optional].concat();
        Self { columns, has_line_number: true, include, json_fields: Some(None) }
    }

    pub(super) fn has_verdict(&self) -> bool {
        self.columns.iter().any(|column| matches!(column, Column::Verdict))
    }
}

impl Column {
    fn is_optional(self) -> bool {
        matches!(self, Self::Field(column) if column.extra.is_some())
    }

    /// The name without the list's prefix.
    pub fn name(self) -> &'static str {
        match self {
            Self::Field(column) => column.name.trim_start_matches(PREFIX),
            Self::Verdict => VERDICT,
        }
    }

    pub fn cell(self, number: &DescribedNumber) -> Cow<'_, str> {
        match self {
            Self::Field(column) => (column.cell)(&number.result),
            Self::Verdict => number.outcome.name().into(),
        }
    }
}

/// Finds a field's path by path or column name.
fn find_path<'a>(known: &'a Fields, name: &'a str) -> Option<&'a str> {
    if known.includes(name) {
        return Some(name);
    }
    let column = format!("{PREFIX}{}", name.trim_start_matches(PREFIX));
    known.leaves().find(|path| column_name(path) == column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(fields: &str) -> Vec<&'static str> {
        let fields: ListFields = fields.parse().unwrap();
        fields.columns.iter().map(|column| column.name()).collect()
    }

    #[test]
    fn fields_are_named_by_api_path_or_column() {
        assert_eq!(names("valid,e164,carrier.name"), ["valid", "e164", "carrier_name"]);
        assert_eq!(names("tn_carrier_name, formats.e164"), ["carrier_name", "e164"]);
        assert_eq!(names("formats,e164"), ["e164", "international", "national", "rfc3966"]);
        assert_eq!(
            names("countryCode,verdict,reason"),
            ["country_code", "verdict", "reason", "other"]
        );
        for cells::Column { name, .. } in &cells::COLUMNS {
            assert_eq!(names(name), [name.trim_start_matches(PREFIX)]);
        }
        let line: ListFields = "line_number".parse().unwrap();
        assert!(line.has_line_number && line.json_fields.is_none());
    }

    #[test]
    fn unknown_fields_are_rejected_with_a_list_of_known_ones() {
        for name in ["porting", "flags", "flags.country.svg", "", "carrier.nom"] {
            let error = name.parse::<ListFields>().unwrap_err();
            assert!(error.starts_with(&format!("unknown field '{name}'; known fields: ")));
            assert!(error.contains("carrier.name, ") && error.ends_with(", verdict, line_number"));
        }
    }
}
