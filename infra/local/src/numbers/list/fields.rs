//! The fields added to a list.

use std::{borrow::Cow, collections::HashSet, str::FromStr};

use format::{
    FormatResult,
    cells::{self, column_name, columns_for},
    extras::{Extra, Include},
    fields::Fields,
};

use super::describe::DescribedNumber;

/// The prefix of the names in [`COLUMNS`].
const PREFIX: &str = "tn_";
const VERDICT: &str = "verdict";
pub(super) const LINE_NUMBER: &str = "line_number";
const ALL: &str = "all";

/// The columns that a CSV gains by default.
const DEFAULT_COLUMNS: [&str; 10] = [
    VERDICT,
    "reason",
    "e164",
    "national",
    "country",
    "type",
    "line_type",
    "place_name",
    "state",
    "carrier_name",
];

/// The number of known names that an error lists.
const MAX_NEAREST: usize = 3;

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

/// Parses comma-separated names: API paths such as `carrier.name`, columns with or without `tn_`, or `all`.
impl FromStr for ListFields {
    type Err = String;

    fn from_str(names: &str) -> Result<Self, String> {
        // Flag URLs need a server.
        let known = Fields::from_type::<FormatResult>().without("flags");
        let selected = |paths: &str| known.select(paths).ok().flatten();
        let (mut columns, mut paths, mut has_line_number) = (Vec::new(), Vec::new(), false);
        for name in names.split(',').map(str::trim) {
            match name {
                ALL => return Ok(Self::all()),
                VERDICT => columns.push(Column::Verdict),
                LINE_NUMBER => has_line_number = true,
                _ => {
                    let path =
                        find_path(&known, name).ok_or_else(|| unknown_field(&known, name))?;
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
    /// The fields to write by default: ten columns and the included fields, or the API's result in JSON with its
    /// reason and the included fields.
    pub fn default_for(is_json: bool, include: Include) -> Self {
        let default = if is_json { &[VERDICT, "reason"][..] } else { &DEFAULT_COLUMNS };
        let mut columns: Vec<Column> =
            default.iter().filter_map(|&name| all_columns().find(|it| it.name() == name)).collect();
        for column in all_columns().filter(|it| it.extra().is_some_and(|it| include.contains(it))) {
            if !columns.iter().any(|it| it.name() == column.name()) {
                columns.push(column);
            }
        }
        let include = columns.iter().filter_map(|it| it.extra()).fold(include, Include::and);
        Self { columns, has_line_number: is_json, include, json_fields: Some(None) }
    }

    /// Every field.
    fn all() -> Self {
        let columns = all_columns().collect();
        Self { columns, has_line_number: true, include: Include::all(), json_fields: Some(None) }
    }

    pub(super) fn has_verdict(&self) -> bool {
        self.columns.iter().any(|column| matches!(column, Column::Verdict))
    }
}

/// Every column, with the verdict before the optional ones.
fn all_columns() -> impl Iterator<Item = Column> {
    let (optional, others): (Vec<_>, Vec<_>) =
        cells::COLUMNS.iter().map(Column::Field).partition(|column| column.extra().is_some());
    others.into_iter().chain([Column::Verdict]).chain(optional)
}

impl Column {
    /// The optional field that it belongs to.
    fn extra(self) -> Option<Extra> {
        match self {
            Self::Field(column) => column.extra,
            Self::Verdict => None,
        }
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

/// The error for an unknown name, with the nearest known ones.
fn unknown_field(known: &Fields, name: &str) -> String {
    let mut nearest: Vec<&str> = known.leaves().chain([VERDICT, LINE_NUMBER]).collect();
    nearest.sort_by_cached_key(|known| (distance(known, name), known.len()));
    let [first, second, third] = nearest[..MAX_NEAREST] else { return String::new() };
    format!(
        "unknown field '{name}'; the nearest are {first}, {second} and {third}, and '{ALL}' adds every field"
    )
}

/// The number of edits between a known name, or one of its parts, and another name. Punctuation and case do not count.
fn distance(known: &str, name: &str) -> usize {
    let plain = |text: &str| {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect::<String>()
    };
    let name = plain(name);
    let parts = known.split('.').chain([known]);
    parts.map(|part| strsim::osa_distance(&plain(part), &name)).min().unwrap_or_default()
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
    fn a_csv_gains_ten_columns_and_those_of_included_fields() {
        let names = |include: &str| {
            let fields = ListFields::default_for(false, include.parse().unwrap());
            assert!(!fields.has_line_number);
            (fields.columns.iter().map(|column| column.name()).collect::<Vec<_>>(), fields.include)
        };
        let (default, include) = names("");
        assert_eq!(default, DEFAULT_COLUMNS);
        assert_eq!(include, "reason,line,place".parse().unwrap());
        let (columns, include) = names("line,network");
        let added = ["line_basis", "line_may_differ_if_ported", "line_everyday_name"];
        assert_eq!(
            columns,
            [&DEFAULT_COLUMNS[..], &added, &["network_name", "network_basis"]].concat()
        );
        assert_eq!(include, "reason,line,place,network".parse().unwrap());
    }

    #[test]
    fn json_has_the_verdict_and_the_apis_result_with_its_reason() {
        let fields = ListFields::default_for(true, "line".parse().unwrap());
        assert!(fields.has_verdict() && fields.has_line_number);
        assert_eq!(
            (fields.include, fields.json_fields),
            ("reason,line".parse().unwrap(), Some(None))
        );
    }

    #[test]
    fn all_adds_every_field_once() {
        let all: ListFields = "e164,all".parse().unwrap();
        let names: HashSet<_> = all.columns.iter().map(|column| column.name()).collect();
        assert_eq!(
            (names.len(), all.columns.len()),
            (cells::COLUMNS.len() + 1, cells::COLUMNS.len() + 1)
        );
        assert!(all.has_line_number && all.has_verdict());
        assert_eq!((all.include, all.json_fields), (Include::all(), Some(None)));
    }

    #[test]
    fn unknown_fields_are_rejected_with_the_three_nearest_ones() {
        for (name, nearest) in [
            ("carrier.nom", "carrier.name, carrier.ocn and carrier.type"),
            ("carier", "carrier.ocn, carrier.name and carrier.type"),
            ("ocn", "carrier.ocn"),
            ("ratecentre", "location.rateCenter"),
            ("tn_line_number2", "line_number"),
            ("Verdikt", "verdict"),
            ("intl", ""),
            ("flags", ""),
            ("flags.country.svg", ""),
            ("", ""),
        ] {
            let error = name.parse::<ListFields>().unwrap_err();
            let (start, end) = ("the nearest are ", ", and 'all' adds every field");
            assert!(
                error.starts_with(&format!("unknown field '{name}'; {start}{nearest}")),
                "{error}"
            );
            assert!(error.ends_with(end) && error.len() < 130 + name.len(), "{error}");
        }
    }
}
