//! Errors for unknown names, with a suggestion.

use crate::errors::{ApiError, quote};

/// The error for a name that `owner` does not support. Suggests a similar one in `known`, or lists all.
pub fn unknown_name(kind: &str, unknown: &str, owner: &str, known: &[impl AsRef<str>]) -> ApiError {
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let quoted = quote(unknown);
    ApiError::invalid(match nearest(&quoted, &known) {
        Some(nearest) => format!("Unknown {kind} '{quoted}'; did you mean '{nearest}'?"),
        None if known.is_empty() => format!("Unknown {kind} '{quoted}'; this {owner} takes none"),
        None => format!("Unknown {kind} '{quoted}'; this {owner} supports {}", known.join(", ")),
    })
}

/// The most similar name, ignoring case. Up to a third of its characters may differ, or one if that is more.
fn nearest<'a>(unknown: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = unknown.to_lowercase();
    let distances =
        known.iter().map(|&name| (strsim::osa_distance(&lower, &name.to_lowercase()), name));
    let (distance, nearest) = distances.min_by_key(|(distance, _)| *distance)?;
    let length = nearest.len().min(lower.chars().count());
    let is_near = distance <= (length / 3).max(1) && distance < length;
    is_near.then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_names_get_a_suggestion_and_unrelated_ones_do_not() {
        let known =
            ["country", "type", "q", "nxx", "rate_center", "defaultCountry", "offset", "apiKey"];
        for (unknown, intended) in [
            ("contry", "country"),
            ("tpye", "type"),
            ("defaultcountry", "defaultCountry"),
            ("APIKEY", "apiKey"),
            ("rateCentre", "rate_center"),
            ("nx", "nxx"),
            ("ofset", "offset"),
        ] {
            assert_eq!(nearest(unknown, &known), Some(intended), "{unknown}");
        }
        let error = unknown_name("argument", "x", "tool", &[] as &[&str]);
        assert_eq!(error.to_string(), "Unknown argument 'x'; this tool takes none");
        for unrelated in ["", "x", "page", "ocn", "pageSize", "sort", "\u{212a}"] {
            assert_eq!(nearest(unrelated, &known), None, "{unrelated}");
        }
    }
}
