//! In what a record of one version differs from that of another, as far as a gate counts it.

use std::fmt::Display;

use numbering::records::{AreaCode, Carrier, Exchange, Record, Status};

use crate::difference::RecordPair;

/// A counted difference.
pub(super) struct Difference {
    /// The field that differs, or how the record comes or goes.
    pub field: &'static str,
    /// The difference in words that follow the code of the record.
    pub text: String,
}

/// The differences of a record between two versions; empty if none counts.
pub(super) fn counted_differences(pair: &RecordPair) -> Vec<Difference> {
    match (&pair.before, &pair.after) {
        (Some(Record::Exchange(before)), Some(Record::Exchange(after))) => {
            exchange_differences(before, after)
        }
        (Some(Record::Carrier(before)), Some(Record::Carrier(after))) => {
            carrier_differences(before, after)
        }
        (Some(Record::AreaCode(before)), Some(Record::AreaCode(after))) => {
            area_code_differences(before, after)
        }
        (Some(_), _) => {
            vec![Difference { field: "removal", text: "would be removed".to_owned() }]
        }
        // A new area code of Canada comes with 800 rows, nearly all unassigned. The overlay adds
        // carriers, and an area code appears before its exchanges.
        (None, Some(Record::Exchange(after))) if after.status != Status::Unassigned => {
            vec![Difference { field: "addition", text: "would be added".to_owned() }]
        }
        _ => Vec::new(),
    }
}

/// The differences in what the reports state for an exchange. The name and type of its carrier are
/// compared with those of the carrier.
fn exchange_differences(before: &Exchange, after: &Exchange) -> Vec<Difference> {
    let mut fields = DifferingFields::default();
    fields.compare("status", &before.status, &after.status);
    fields.compare_optional("OCN", &before.ocn, &after.ocn);
    if before.ocn.is_none() && after.ocn.is_none() {
        fields.compare_optional("company", &before.company_name, &after.company_name);
    }
    fields.compare_optional("rate center", &before.rate_center, &after.rate_center);
    fields.compare_optional("state", &before.state, &after.state);
    fields.compare("country", &before.country, &after.country);
    fields.0
}

/// The differences of a carrier. The number of its exchanges changes with each of them and counts only
/// if it loses all: the overlay would keep up the number of carriers however many the reports lose.
fn carrier_differences(before: &Carrier, after: &Carrier) -> Vec<Difference> {
    let mut fields = DifferingFields::default();
    fields.compare_optional("company name", &before.company_name, &after.company_name);
    fields.compare_if_known("common name", &before.common_name, &after.common_name);
    fields.compare_if_known("type", &before.carrier_type, &after.carrier_type);
    fields.compare_if_known("state", &before.state, &after.state);
    fields.compare("country", &before.country, &after.country);
    if before.exchanges.total > 0 && after.exchanges.total == 0 {
        fields.compare("number of exchanges", &before.exchanges.total, &after.exchanges.total);
    }
    fields.0
}

/// The differences of an area code, except for the number of its exchanges.
fn area_code_differences(before: &AreaCode, after: &AreaCode) -> Vec<Difference> {
    let mut fields = DifferingFields::default();
    fields.compare_if_known("state", &before.state, &after.state);
    fields.compare("country", &before.country, &after.country);
    fields.0
}

/// The fields of a record that differ.
#[derive(Default)]
struct DifferingFields(Vec<Difference>);

impl DifferingFields {
    fn add(&mut self, field: &'static str, before: &str, after: &str) {
        let text = format!("has {field} {before} and would have {after}");
        self.0.push(Difference { field, text });
    }

    fn compare<T: PartialEq + Display>(&mut self, field: &'static str, before: &T, after: &T) {
        if before != after {
            self.add(field, &quoted(before), &quoted(after));
        }
    }

    fn compare_optional<T: PartialEq + Display>(
        &mut self,
        field: &'static str,
        before: &Option<T>,
        after: &Option<T>,
    ) {
        if before != after {
            let text = |value: &Option<T>| value.as_ref().map_or("none".to_owned(), quoted);
            self.add(field, &text(before), &text(after));
        }
    }

    /// A value that was not known before does not differ: the first overlay adds values to all
    /// records at once.
    fn compare_if_known<T: PartialEq + Display>(
        &mut self,
        field: &'static str,
        before: &Option<T>,
        after: &Option<T>,
    ) {
        if before.is_some() {
            self.compare_optional(field, before, after);
        }
    }
}

/// A value in quotes, without control characters, which a terminal would obey.
fn quoted(value: &impl Display) -> String {
    format!("'{}'", value.to_string().replace(char::is_control, ""))
}
