//! The fields added to a list: all, or a selection.

use std::{collections::HashSet, str::FromStr};

use format::{
    FormatResult,
    cells::{COLUMNS, FIRST_OF_REASON, column_of},
    fields::Fields,
};

/// The prefix of names in [`COLUMNS`].
const PREFIX_OF_COLUMNS: &str = "tn_";
/// Fields that lists never have, because links need a server.
const LINKS: &str = "flags.";
const VERDICT: &str = "verdict";
const LINE: &str = "line";

/// A field as a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Column {
    /// The index in [`COLUMNS`].
    Field(usize),
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
        let fields = (0..FIRST_OF_REASON).filter(|&it| COLUMNS[it] != "tn_input");
        let of_reason = (FIRST_OF_REASON..COLUMNS.len()).map(Column::Field);
        let columns = fields.map(Column::Field).chain([Column::Verdict]).chain(of_reason).collect();
        Self { columns, has_line: true, in_json: Some(None) }
    }
}

/// Comma-separated names: API paths such as `carrier.name`, or columns with or without `tn_`.
impl FromStr for ListFields {
    type Err = String;

    fn from_str(names: &str) -> Result<Self, String> {
        let known = fields_of_lists();
        let (mut columns, mut paths, mut has_line) = (Vec::new(), Vec::new(), false);
        for name in names.split(',').map(str::trim) {
            match name {
                VERDICT => columns.push(Column::Verdict),
                LINE => has_line = true,
                _ => {
                    let (path, fields) = find(&known, name).ok_or_else(|| {
                        let known = known.leaves().collect::<Vec<_>>().join(", ");
                        format!("unknown field '{name}'; the fields are {known}, {VERDICT}, {LINE}")
                    })?;
                    let mut found: Vec<Column> =
                        fields.leaves().filter_map(|path| Column::from_path(&path)).collect();
                    found.sort();
                    columns.append(&mut found);
                    paths.push(path);
                }
            }
        }
        let mut seen = HashSet::new();
        columns.retain(|column| seen.insert(*column));
        let in_json = known.selected(&paths.join(",")).ok().flatten().map(Some);
        Ok(Self { columns, has_line, in_json })
    }
}

impl ListFields {
    /// Returns `true` if this field is written.
    pub(super) fn has(&self, column: Column) -> bool {
        self.columns.contains(&column)
    }
}

impl Column {
    fn from_path(path: &str) -> Option<Self> {
        let name = column_of(path);
        COLUMNS.iter().position(|column| *column == name).map(Self::Field)
    }

    /// The name without the list's prefix.
    pub fn name(self) -> &'static str {
        match self {
            Self::Field(index) => COLUMNS[index].trim_start_matches(PREFIX_OF_COLUMNS),
            Self::Verdict => VERDICT,
        }
    }
}

/// The fields of a format result except links.
fn fields_of_lists() -> Fields {
    let all = Fields::from_type::<FormatResult>();
    let paths = all.leaves().filter(|path| !path.starts_with(LINKS)).collect::<Vec<_>>();
    all.selected(&paths.join(",")).ok().flatten().unwrap_or_default()
}

/// A field's path, found by path or column, and the fields at that path.
fn find(known: &Fields, name: &str) -> Option<(String, Fields)> {
    let at = |path: &str| known.selected(path).ok().flatten();
    if let Some(fields) = at(name) {
        return Some((name.to_owned(), fields));
    }
    let column = format!("{PREFIX_OF_COLUMNS}{}", name.trim_start_matches(PREFIX_OF_COLUMNS));
    let path = known.leaves().find(|path| column_of(path) == column)?;
    at(&path).map(|fields| (path, fields))
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
        for column in COLUMNS {
            assert_eq!(names(column), [column.trim_start_matches(PREFIX_OF_COLUMNS)]);
        }
    }
}
