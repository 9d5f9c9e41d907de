//! Quotes client input in error messages.

use std::borrow::Cow;

const MAX_QUOTE_LENGTH: usize = 40;

/// Truncates a value for an error message.
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
    fn long_values_are_truncated() {
        let text = "é".repeat(1000);
        assert_eq!(quote(&text).chars().count(), MAX_QUOTE_LENGTH + 1);
    }
}
