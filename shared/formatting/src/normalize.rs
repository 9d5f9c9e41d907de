//! What comes before the rules: a number as people type it, made ready to be parsed (spec 4.4).

/// Google's rules take no longer input than this many characters.
pub const LONGEST_INPUT: usize = 250;

/// Whether the number may be handed to the rules at all: not too long, and without the one
/// sequence (`tel:` after a phone context) at which they panic.
pub(super) fn is_parseable(text: &str) -> bool {
    let misplaced_scheme =
        text.find(";phone-context=").is_some_and(|context| text[context..].contains("tel:"));
    text.chars().nth(LONGEST_INPUT).is_none() && !misplaced_scheme
}

fn is_plus(c: char) -> bool {
    matches!(c, '+' | '＋')
}

/// The number with a leading `011` or `00` replaced by a plus; `None` where it has neither.
///
/// The digits of a prefix stand together: `(0)0…` is a trunk prefix before a number.
pub(super) fn without_international_prefix(text: &str) -> Option<String> {
    // as Google's rules begin: at the first digit or plus, whatever comes before
    let start = text.trim_start_matches(|c: char| !c.is_numeric() && !is_plus(c));
    if text.contains(";phone-context=") {
        return None;
    }
    ["011", "00"].into_iter().find_map(|prefix| {
        let mut digits = prefix.chars();
        let rest =
            digits.try_fold(start, |rest, digit| rest.strip_prefix(|c| ascii_digit(c) == digit))?;
        rest.contains(|c: char| c.is_numeric()).then(|| format!("+{rest}"))
    })
}

/// A full-width or Arabic-Indic digit as the ASCII one; any other character as it is.
fn ascii_digit(c: char) -> char {
    let zero = match c {
        '\u{ff10}'..='\u{ff19}' => '\u{ff10}',
        '\u{660}'..='\u{669}' => '\u{660}',
        '\u{6f0}'..='\u{6f9}' => '\u{6f0}',
        other => return other,
    };
    char::from_digit(c as u32 - zero as u32, 10).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn international_prefixes_become_a_plus() {
        let plus = without_international_prefix;
        assert_eq!(plus("011 44 20 7946 0958").as_deref(), Some("+ 44 20 7946 0958"));
        assert_eq!(plus("(011) 4420").as_deref(), Some("+) 4420"));
        assert_eq!(plus("(0)11 4420"), None);
        assert_eq!(plus("0044 20").as_deref(), Some("+44 20"));
        assert_eq!(plus("００44 20").as_deref(), Some("+44 20"));
        assert_eq!(plus("٠١١ 44").as_deref(), Some("+ 44"));
        assert_eq!(plus("020 7946"), None);
        assert_eq!(plus("+011"), None);
        assert_eq!(plus("00"), None);
    }

    #[test]
    fn refuses_what_the_rules_cannot_take() {
        assert!(is_parseable(&"1".repeat(LONGEST_INPUT)));
        assert!(!is_parseable(&"1".repeat(LONGEST_INPUT + 1)));
        assert!(!is_parseable("90;phone-context=+1;tel:"));
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in any::<String>()) {
            let _ = is_parseable(&text);
            let _ = without_international_prefix(&text);
        }
    }
}
