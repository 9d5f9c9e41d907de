//! The fields added to a list.

use std::{collections::HashSet, str::FromStr};

use format::{
    FormatResult, Include,
    columns::{Column, column_name},
    fields::Fields,
    include::{COLUMNS, VERDICT, columns_for},
};
use shared::{errors::quote, params::nearest};

const PREFIX: &str = "tn_";
pub(super) const LINE_NUMBER: &str = "line_number";
const ALL: &str = "all";

/// The columns added to a CSV by default.
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

#[derive(Debug, Clone)]
pub struct ListFields {
    /// In CSV column order.
    pub(super) columns: Vec<&'static Column>,
    pub(super) has_line_number: bool,
    pub(super) include: Include,
    /// The [`FormatResult`] fields in JSON, if any. The inner `None` means all of them.
    pub(super) json_fields: Option<Option<Fields>>,
}

/// Parses comma-separated names: API paths such as `carrier.name`, columns with or without `tn_`, or `all`.
impl FromStr for ListFields {
    type Err = String;

    fn from_str(names: &str) -> Result<Self, String> {
        // Flag URLs require a server.
        let known = Fields::from_type::<FormatResult>().without("flags");
        let selected = |paths: &str| known.select(paths).ok().flatten();
        let (mut columns, mut paths, mut has_line_number) = (Vec::new(), Vec::new(), false);
        for name in names.split(',').map(str::trim) {
            match name {
                ALL => return Ok(Self::all()),
                LINE_NUMBER => has_line_number = true,
                _ => {
                    let path =
                        find_path(&known, name).ok_or_else(|| unknown_field(&known, name))?;
                    let fields = selected(path);
                    columns.extend(fields.iter().flat_map(columns_for));
                    paths.push(path);
                }
            }
        }
        let fields = selected(&paths.join(","));
        let include = fields.as_ref().map(Include::from_fields).unwrap_or_default();
        Ok(Self {
            columns: unique(columns),
            has_line_number,
            include,
            json_fields: fields.map(Some),
        })
    }
}

impl ListFields {
    /// The default fields: in CSV, ten columns; in JSON, the API's result and its reason. Both also have the included
    /// fields.
    pub fn default_for(is_json: bool, include: Include) -> Self {
        let default = if is_json { &[VERDICT, "reason"][..] } else { &DEFAULT_COLUMNS };
        let find = |&name| COLUMNS.iter().find(|it| without_prefix(&it.name) == name);
        let included = include.columns().filter(|column| column.extra.is_some());
        let columns = unique(default.iter().filter_map(find).chain(included));
        let needed = columns.iter().filter_map(|column| column.extra);
        let include = needed.fold(include.clone(), Include::and);
        Self { columns, has_line_number: is_json, include, json_fields: Some(None) }
    }

    fn all() -> Self {
        let columns = Include::all().columns().collect();
        Self { columns, has_line_number: true, include: Include::all(), json_fields: Some(None) }
    }
}

fn unique(columns: impl IntoIterator<Item = &'static Column>) -> Vec<&'static Column> {
    let mut seen = HashSet::new();
    columns.into_iter().filter(|column| seen.insert(&column.name)).collect()
}

pub(super) fn without_prefix(name: &str) -> &str {
    name.trim_start_matches(PREFIX)
}

fn find_path<'a>(known: &'a Fields, name: &'a str) -> Option<&'a str> {
    if known.includes(name) {
        return Some(name);
    }
    let column = format!("{PREFIX}{}", without_prefix(name));
    known.leaves().find(|path| column_name(path) == column)
}

fn unknown_field(known: &Fields, name: &str) -> String {
    let own = [VERDICT, LINE_NUMBER].into_iter();
    let fields: Vec<&str> = own.chain(known.leaves().flat_map(with_parents)).collect();
    let names: Vec<&str> = fields.iter().flat_map(|field| [field, last_part(field)]).collect();
    let field = nearest(name, &names)
        .and_then(|name| fields.iter().find(|field| **field == name || last_part(field) == name));
    let suggestion = field.map(|field| format!(" did you mean '{field}'?")).unwrap_or_default();
    format!("unknown field '{}';{suggestion} '{ALL}' adds every field", quote(name))
}

/// The path and its parents, such as `carrier` and `carrier.name`.
fn with_parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('.').map(|(index, _)| &path[..index]).chain([path])
}

fn last_part(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(fields: &str) -> Vec<&'static str> {
        let fields: ListFields = fields.parse().unwrap();
        fields.columns.iter().map(|column| without_prefix(&column.name)).collect()
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
        for column in Include::all().columns() {
            assert_eq!(names(&column.name), [without_prefix(&column.name)]);
        }
        let line: ListFields = "line_number".parse().unwrap();
        assert!(line.has_line_number && line.json_fields.is_none());
    }

    #[test]
    fn only_selected_optional_fields_are_computed() {
        for (is_json, include, found) in [
            (false, "", "verdict,reason,line,place"),
            (false, "line,network", "verdict,reason,line,place,network"),
            (true, "line", "verdict,reason,line"),
        ] {
            let fields = ListFields::default_for(is_json, include.parse().unwrap());
            assert_eq!(fields.include, found.parse().unwrap(), "{is_json} {include}");
        }
    }

    #[test]
    fn fields_all_adds_each_column_once() {
        let all: ListFields = "e164,all".parse().unwrap();
        let names: HashSet<_> = all.columns.iter().map(|column| &column.name).collect();
        assert_eq!((names.len(), all.columns.len()), (COLUMNS.len(), COLUMNS.len()));
        assert!(all.has_line_number);
        assert_eq!((all.include, all.json_fields), (Include::all(), Some(None)));
    }
}
