//! Prepares a number as people type it for the rules (spec 4.4).

use super::characters::is_plus;

/// The most characters of a text that Google's rules read.
pub const LONGEST_INPUT: usize = 250;

/// Whether the rules can read the text: it is not too long, and does not contain the one sequence
/// (`tel:` after a phone context) at which they panic.
pub(super) fn is_parseable(text: &str) -> bool {
    let is_short = text.len() <= LONGEST_INPUT || text.chars().nth(LONGEST_INPUT).is_none();
    is_short && !has_misplaced_scheme(text)
}

fn has_misplaced_scheme(text: &str) -> bool {
    phone_context(text).is_some_and(|context| context.contains("tel:"))
}

/// The text from its phone context on. Most texts have no semicolon, which is found faster.
fn phone_context(text: &str) -> Option<&str> {
    let parameters = &text[text.find(';')?..];
    parameters.find(";phone-context=").map(|start| &parameters[start..])
}

/// The number with a leading `011` or `00` replaced by a plus; `None` if it has neither.
///
/// The digits of a prefix stand together, since `(0)0…` is a trunk prefix before a number.
pub(super) fn without_international_prefix(text: &str) -> Option<String> {
    // Google's rules also begin at the first digit or plus sign.
    let from_first_digit = text.trim_start_matches(|c: char| !c.is_numeric() && !is_plus(c));
    if phone_context(text).is_some() {
        return None;
    }
    ["011", "00"].into_iter().find_map(|prefix| {
        let mut digits = prefix.chars();
        let rest = digits.try_fold(from_first_digit, |rest, digit| {
            rest.strip_prefix(|c| ascii_digit(c) == digit)
        })?;
        rest.contains(|c: char| c.is_numeric()).then(|| format!("+{rest}"))
    })
}

/// The ASCII form of a full-width or Arabic-Indic digit; any other character unchanged.
fn ascii_digit(c: char) -> char {
    let zero = match c {
        '\u{ff10}'..='\u{ff19}' => '\u{ff10}',
        '\u{660}'..='\u{669}' => '\u{660}',
        '\u{6f0}'..='\u{6f9}' => '\u{6f0}',
        other => return other,
    };
    char::from_digit(c as u32 - zero as u32, 10)
        .expect("each range has ten characters from its zero")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn international_prefixes_become_a_plus() {
        assert_eq!(
            without_international_prefix("011 44 20 7946 0958").as_deref(),
            Some("+ 44 20 7946 0958")
        );
        assert_eq!(without_international_prefix("(011) 4420").as_deref(), Some("+) 4420"));
        assert_eq!(without_international_prefix("(0)11 4420"), None);
        assert_eq!(without_international_prefix("0044 20").as_deref(), Some("+44 20"));
        assert_eq!(without_international_prefix("００44 20").as_deref(), Some("+44 20"));
        assert_eq!(without_international_prefix("٠١١ 44").as_deref(), Some("+ 44"));
        assert_eq!(without_international_prefix("020 7946"), None);
        assert_eq!(without_international_prefix("+011"), None);
        assert_eq!(without_international_prefix("00"), None);
    }

    #[test]
    fn text_that_the_rules_cannot_read_is_refused() {
        assert!(is_parseable(&"1".repeat(LONGEST_INPUT)));
        assert!(!is_parseable(&"1".repeat(LONGEST_INPUT + 1)));
        assert!(!is_parseable("90;phone-context=+1;tel:"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in any::<String>()) {
            let _ = is_parseable(&text);
            let _ = without_international_prefix(&text);
        }
    }
}
