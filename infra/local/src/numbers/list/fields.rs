//! The fields added to a list: all, or a selection.

use std::{borrow::Cow, collections::HashSet, str::FromStr};

use format::{
    FormatResult,
    cells::{self, COLUMNS, FIRST_REASON_COLUMN, column_of, columns_of},
    fields::Fields,
};

use super::answer::Answer;

/// The prefix of names in [`COLUMNS`].
const PREFIX: &str = "tn_";
const VERDICT: &str = "verdict";
const LINE: &str = "line";

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
    /// `true` to add the row's line number.
    pub(super) has_line: bool,
    /// The format result's fields in JSON, if any; the inner `None` means all.
    pub(super) in_json: Option<Option<Fields>>,
}

/// All except the number itself, which the list already has.
impl Default for ListFields {
    fn default() -> Self {
        let (fields, of_reason) = COLUMNS.split_at(FIRST_REASON_COLUMN);
        let fields = fields.iter().filter(|column| column.name != "tn_input").map(Column::Field);
        let of_reason = of_reason.iter().map(Column::Field);
        let columns = fields.chain([Column::Verdict]).chain(of_reason).collect();
        Self { columns, has_line: true, in_json: Some(None) }
    }
}

/// Comma-separated names: API paths such as `carrier.name`, or columns with or without `tn_`.
impl FromStr for ListFields {
    type Err = String;

    fn from_str(names: &str) -> Result<Self, String> {
        // Links to flags need a server.
        let known = Fields::from_type::<FormatResult>().without("flags");
        let selected = |paths: &str| known.selected(paths).ok().flatten();
        let (mut columns, mut paths, mut has_line) = (Vec::new(), Vec::new(), false);
        for name in names.split(',').map(str::trim) {
            match name {
                VERDICT => columns.push(Column::Verdict),
                LINE => has_line = true,
                _ => {
                    let path = path_of(&known, name).ok_or_else(|| {
                        let known = known.leaves().collect::<Vec<_>>().join(", ");
                        format!("unknown field '{name}'; the fields are {known}, {VERDICT}, {LINE}")
                    })?;
                    let found = selected(path);
                    columns.extend(found.iter().flat_map(columns_of).map(Column::Field));
                    paths.push(path);
                }
            }
        }
        let mut seen = HashSet::new();
        columns.retain(|column| seen.insert(column.name()));
        Ok(Self { columns, has_line, in_json: selected(&paths.join(",")).map(Some) })
    }
}

impl ListFields {
    /// Returns `true` if the verdict is written.
    pub(super) fn has_verdict(&self) -> bool {
        self.columns.iter().any(|column| matches!(column, Column::Verdict))
    }
}

impl Column {
    /// The name without the list's prefix.
    pub fn name(self) -> &'static str {
        match self {
            Self::Field(column) => column.name.trim_start_matches(PREFIX),
            Self::Verdict => VERDICT,
        }
    }

    pub fn cell(self, answer: &Answer) -> Cow<'_, str> {
        match self {
            Self::Field(column) => (column.cell)(&answer.result),
            Self::Verdict => answer.outcome.name().into(),
        }
    }
}

/// The path of a field, found by path or column.
fn path_of<'a>(known: &'a Fields, name: &'a str) -> Option<&'a str> {
    if known.has(name) {
        return Some(name);
    }
    let column = format!("{PREFIX}{}", name.trim_start_matches(PREFIX));
    known.leaves().find(|path| column_of(path) == column)
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
        let line: ListFields = "line".parse().unwrap();
        assert!(line.has_line && line.in_json.is_none());
    }

    #[test]
    fn unknown_fields_are_refused_with_the_known_ones() {
        for name in ["porting", "flags", "flags.country.svg", "", "carrier.nom"] {
            let refused = name.parse::<ListFields>().unwrap_err();
            assert!(refused.starts_with(&format!("unknown field '{name}'; the fields are ")));
            assert!(refused.contains("carrier.name, ") && refused.ends_with(", verdict, line"));
        }
    }

    #[test]
    fn every_result_column_can_be_selected() {
        for cells::Column { name, .. } in &COLUMNS {
            assert_eq!(names(name), [name.trim_start_matches(PREFIX)]);
        }
    }
}
