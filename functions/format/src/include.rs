//! The optional fields of a result. Each is a row in [`EXTRAS`].

use std::{collections::BTreeSet, str::FromStr, sync::LazyLock};

use itertools::Itertools;
use shared::{errors::ApiError, params::invalid_param};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type},
};

use super::{
    FormatResult,
    columns::{ALWAYS, Column, column_name, top_level_field},
    extras::{
        Assignment, CallingHours, Facts, LineInfo, NetworkInfo, PlaceInfo, ReasonInfo, find_zones,
    },
    fields::Fields,
};

pub struct Extra {
    /// The value for `include`.
    pub name: &'static str,
    /// `true` if it depends on the numbering data for a North American number.
    needs_data: bool,
    /// The paths of the columns for the result fields that it adds.
    columns: &'static str,
    describe: fn(&mut FormatResult, &Facts<'_>),
}

const ALL: &str = "all";

/// The name of the field with the [`Verdict`](formatting::Verdict).
pub const VERDICT: &str = "verdict";

/// The name of the field with the [`Assignment`].
const ASSIGNMENT: &str = "assignment";

pub static EXTRAS: [Extra; 7] = [
    Extra {
        name: VERDICT,
        needs_data: false,
        columns: VERDICT,
        describe: |result, facts| result.verdict = Some(facts.verdict()),
    },
    Extra {
        name: "reason",
        needs_data: false,
        columns: "reason.code reason.other",
        describe: |result, facts| result.reason = Some(ReasonInfo::find(facts)),
    },
    Extra {
        name: "line",
        needs_data: true,
        columns: "line.type line.basis line.mayDifferIfPorted line.everydayName",
        describe: |result, facts| result.line = Some(LineInfo::find(facts)),
    },
    Extra {
        name: ASSIGNMENT,
        needs_data: true,
        columns: "assignment.verdict assignment.reason assignment.areaCode.status \
                  assignment.areaCode.inServiceOn assignment.exchange.status assignment.block.ocn \
                  assignment.block.name assignment.block.effectiveFrom assignment.range.from \
                  assignment.range.to assignment.range.holder assignment.range.status \
                  assignment.range.effectiveFrom assignment.range.place \
                  assignment.source.publisher assignment.source.license assignment.source.date",
        describe: |result, facts| result.assignment = Some(Assignment::find(facts)),
    },
    Extra {
        name: "timezone",
        needs_data: true,
        columns: "timeZones callingHours.status callingHours.rule callingHours.window.from \
                  callingHours.window.to",
        describe: |result, facts| {
            let zones = find_zones(facts);
            let find = |zones: &Vec<_>| CallingHours::find(facts, zones);
            result.calling_hours = Some(zones.as_ref().and_then(find));
            result.time_zones = Some(zones);
        },
    },
    Extra {
        name: "place",
        needs_data: true,
        columns: "place.name place.language place.basis",
        describe: |result, facts| result.place = Some(PlaceInfo::find(facts)),
    },
    Extra {
        name: "network",
        needs_data: false,
        columns: "network.name network.basis",
        describe: |result, facts| result.network = Some(NetworkInfo::find(facts)),
    },
];

/// All columns, in order: for the fields that every result has, then for the optional ones.
pub static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let optional = EXTRAS.iter().flat_map(|extra| Column::at(extra.columns, Some(extra.name)));
    Column::at(ALWAYS, None).chain(optional).collect()
});

impl Extra {
    /// The result fields that it adds.
    pub fn fields(&self) -> impl Iterator<Item = &'static str> {
        self.columns.split(' ').map(top_level_field).dedup()
    }
}

/// The names of the requested [`EXTRAS`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Include(BTreeSet<&'static str>);

impl FromStr for Include {
    type Err = ApiError;

    fn from_str(names: &str) -> Result<Self, ApiError> {
        let mut include = Self::default();
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if name.eq_ignore_ascii_case(ALL) {
                return Ok(Self::all());
            }
            let extra = EXTRAS.iter().find(|extra| extra.name.eq_ignore_ascii_case(name));
            let unknown = || {
                let rule = format!("must be one or more of {}", Self::names().join(", "));
                invalid_param("include", name, rule)
            };
            include.0.insert(extra.ok_or_else(unknown)?.name);
        }
        Ok(include)
    }
}

impl Include {
    pub fn all() -> Self {
        Self(EXTRAS.iter().map(|extra| extra.name).collect())
    }

    /// The values that clients may list.
    pub fn names() -> Vec<&'static str> {
        EXTRAS.iter().map(|extra| extra.name).chain([ALL]).collect()
    }

    pub fn from_fields(fields: &Fields) -> Self {
        let is_selected = |extra: &&Extra| extra.fields().any(|field| fields.includes(field));
        Self(EXTRAS.iter().filter(is_selected).map(|extra| extra.name).collect())
    }

    pub fn and(mut self, name: &'static str) -> Self {
        self.0.insert(name);
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    pub fn extras(&self) -> impl Iterator<Item = &'static Extra> {
        EXTRAS.iter().filter(|extra| self.0.contains(extra.name))
    }

    /// The columns for the fields that every result has, plus these optional ones.
    pub fn columns(&self) -> impl Iterator<Item = &'static Column> {
        COLUMNS.iter().filter(|column| column.extra.is_none_or(|name| self.0.contains(name)))
    }

    /// Returns `true` if the optional fields of a North American number need the numbering data.
    pub(super) fn needs_data(&self) -> bool {
        self.extras().any(|extra| extra.needs_data)
    }

    /// Returns `true` if the optional fields of numbers elsewhere need their country's ranges.
    pub fn needs_countries(&self) -> bool {
        self.0.contains(ASSIGNMENT)
    }

    pub(super) fn describe(&self, facts: &Facts<'_>) -> FormatResult {
        let mut result = FormatResult::default();
        self.extras().for_each(|extra| (extra.describe)(&mut result, facts));
        result
    }
}

pub fn columns_for(fields: &Fields) -> impl Iterator<Item = &'static Column> {
    let wanted: BTreeSet<String> = fields.leaves().map(column_name).collect();
    COLUMNS.iter().filter(move |column| wanted.contains(&column.name))
}

impl PartialSchema for Extra {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("A field that results include only if requested."))
            .enum_values(Some(Include::names()))
            .into()
    }
}

impl ToSchema for Extra {}

#[cfg(test)]
mod tests {
    use formatting::{DefaultCountry, Languages, PhoneNumber};
    use numbering::dataset::Dataset;
    use serde_json::{Value, json};

    use super::*;
    use crate::{assemble::Assembler, tests::results::all_kinds};

    #[test]
    fn extra_fields_are_parsed_in_any_order_ignoring_case() {
        let include: Include = " Line ,REASON,".parse().unwrap();
        assert_eq!(include, Include(["reason", "line"].into()));
        assert_eq!("line,All".parse::<Include>().unwrap(), Include::all());
        assert_eq!(" ,".parse::<Include>().unwrap(), Include::default());
    }

    /// A number's result with one optional field, or none.
    fn describe(extra: Option<&Extra>, dataset: Option<&Dataset>) -> Value {
        let include = extra.map_or_else(Include::default, |extra| Include([extra.name].into()));
        assert_eq!(include.needs_data(), extra.is_some_and(|extra| extra.needs_data));
        let (country, now) = (DefaultCountry::default(), "2026-07-01T12:00:00Z".parse().unwrap());
        let languages = &Languages::default();
        let assembler =
            Assembler { include: &include, languages, flags_base_url: None, now, countries: &[] };
        // Google's map has a different time zone for this number, and no city.
        let text = "689 234 5678";
        json!(assembler.describe(text, country, PhoneNumber::parse(text, country), dataset))
    }

    #[test]
    fn every_result_field_has_a_column() {
        let fields = Fields::from_type::<FormatResult>().without("flags");
        let columns: BTreeSet<String> = fields.leaves().map(column_name).collect();
        assert_eq!(columns, COLUMNS.iter().map(|column| column.name.clone()).collect());
    }

    #[test]
    fn each_extra_adds_its_own_fields_and_declares_whether_it_needs_data() {
        let dataset = all_kinds();
        let plain = describe(None, None);
        for extra in &EXTRAS {
            let (without, with) =
                (describe(Some(extra), None), describe(Some(extra), Some(&dataset)));
            let is_added = |field: &&String| plain.get(field.as_str()).is_none();
            let fields: BTreeSet<_> =
                without.as_object().unwrap().keys().filter(is_added).collect();
            let expected: BTreeSet<_> = extra.fields().collect();
            assert!(fields.iter().copied().eq(&expected), "{}", extra.name);
            let depends = expected.iter().any(|field| without[field] != with[field]);
            assert_eq!(depends, extra.needs_data, "{}", extra.name);
        }
    }
}
