//! Rejects unknown names and suggests the intended one.

use crate::errors::{ApiError, quote};

/// Rejects a name that is not among the `known` ones of an `owner`, and suggests a similar one.
pub fn refusal(kind: &str, unknown: &str, owner: &str, known: &[impl AsRef<str>]) -> ApiError {
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let quoted = quote(unknown);
    ApiError::invalid(match nearest(&quoted, &known) {
        Some(near) => format!("Unknown {kind} '{quoted}'; the nearest known one is '{near}'"),
        None => format!("Unknown {kind} '{quoted}'; this {owner} knows {}", known.join(", ")),
    })
}

/// The likely intended name, ignoring case. At most a third of the characters, and at least one, may be
/// missing, wrong or swapped.
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
    fn mistyped_names_get_a_suggestion_and_unrelated_ones_do_not() {
        let known = [
            "country",
            "type",
            "q",
            "npa",
            "nxx",
            "rate_center",
            "defaultCountry",
            "offset",
            "apiKey",
        ];
        for (unknown, meant) in [
            ("contry", "country"),
            ("tpye", "type"),
            ("defaultcountry", "defaultCountry"),
            ("APIKEY", "apiKey"),
            ("rateCentre", "rate_center"),
            ("nx", "nxx"),
            ("ofset", "offset"),
        ] {
            assert_eq!(nearest(unknown, &known), Some(meant), "{unknown}");
        }
        for unrelated in ["", "x", "page", "ocn", "pageSize", "sort", "\u{212a}"] {
            assert_eq!(nearest(unrelated, &known), None, "{unrelated}");
        }
    }
}
