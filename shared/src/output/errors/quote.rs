//! Quotes of what a client wrote.

use std::borrow::Cow;

/// The number of characters after which a value is cut, since a hostile one may be very long.
const MAX_QUOTE_LENGTH: usize = 40;

/// The part of a client's value that a message repeats.
pub fn quote(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_QUOTE_LENGTH) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_cut() {
        let text = "é".repeat(1000);
        assert_eq!(quote(&text).chars().count(), MAX_QUOTE_LENGTH + 1);
    }
}
