//! A request's details for its access log line.

use std::cell::RefCell;

use axum::http::StatusCode;

/// The number of trailing digits that are masked in logged phone numbers.
const MASKED_DIGITS: usize = 4;

/// A request's details for its access log line.
#[derive(Debug, Default)]
pub struct RequestContext {
    pub(crate) request_id: String,
    pub data_version: Option<String>,
    /// The key's prefix, or `iam` if IAM authorized the request.
    pub key: Option<String>,
    /// In E.164, without the last four digits.
    pub(crate) phone_number: Option<String>,
    /// The number of phone numbers in a batch.
    pub numbers: Option<usize>,
    /// The status of a server error inside a successful response, for example from a failed tool call.
    pub failed_within: Option<StatusCode>,
    pub cache_hits: u32,
    pub cache_misses: u32,
}

impl RequestContext {
    /// Records the request's phone number without its last four digits.
    ///
    /// Skips numbers with letters. Letters stand for keypad digits, so `(305) 234-5678 home` is a number
    /// with 14 digits, and masking the last four would expose the full phone number.
    pub fn set_phone_number(&mut self, text: &str, national_number: &str, e164: &str) {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        if digits.contains(national_number) {
            self.phone_number = Some(mask_digits(e164));
        }
    }
}

tokio::task_local! {
    static CONTEXT: RefCell<RequestContext>;
}

/// Updates the context of the current request, if any.
pub fn record(set: impl FnOnce(&mut RequestContext)) {
    _ = CONTEXT.try_with(|context| set(&mut context.borrow_mut()));
}

/// The data version of the current request, if known.
pub(crate) fn data_version() -> Option<String> {
    CONTEXT.try_with(|context| context.borrow().data_version.clone()).ok().flatten()
}

/// The ID of the current request, if known.
pub(crate) fn request_id() -> Option<String> {
    CONTEXT.try_with(|context| context.borrow().request_id.clone()).ok()
}

/// Runs `request` with its own context, and returns its output and the context.
pub(crate) async fn scope<T>(
    request_id: String,
    request: impl Future<Output = T>,
) -> (T, RequestContext) {
    let request_and_context = async {
        let output = request.await;
        (output, CONTEXT.with(RefCell::take))
    };
    let context = RequestContext { request_id, ..RequestContext::default() };
    CONTEXT.scope(context.into(), request_and_context).await
}

/// Replaces the last four digits of an E.164 number with asterisks.
fn mask_digits(e164: &str) -> String {
    let digits = e164.trim_start_matches('+');
    let masked = digits.len().min(MASKED_DIGITS);
    let visible = &digits[..digits.len() - masked];
    format!("+{visible}{}", "*".repeat(masked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_four_digits_are_masked_and_numbers_with_letters_are_not_recorded() {
        for (text, national_number, e164, expected) in [
            ("+49 (0) 30 1234", "301234", "+49301234", Some("+4930****")),
            ("+49112", "112", "+49112", Some("+4****")),
            ("112", "112", "+112", Some("+***")),
            ("+49 30 1234 home", "3012344663", "+493012344663", None),
        ] {
            let mut context = RequestContext::default();
            context.set_phone_number(text, national_number, e164);
            assert_eq!(context.phone_number.as_deref(), expected, "{text}");
        }
    }
}
