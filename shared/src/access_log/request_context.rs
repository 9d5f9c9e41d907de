//! The request context: facts about a request for its line of the access log, recorded while it is answered.

use std::cell::RefCell;

use axum::http::StatusCode;

/// The digits of a phone number that are left out of the log.
const MASKED_DIGITS: usize = 4;

/// Facts about one request.
#[derive(Debug, Default)]
pub struct RequestContext {
    /// The version of the data that the response comes from.
    pub data_version: Option<String>,
    /// The first characters of the key, which operators see, or `iam` for a request that IAM has
    /// authorized.
    pub key: Option<String>,
    /// The phone number in E.164, without its last four digits.
    pub(crate) phone_number: Option<String>,
    /// The count of numbers in a request for many.
    pub numbers: Option<usize>,
    /// The status of a server error that a successful response tells of, as that to an agent whose
    /// tool has failed.
    pub failed_within: Option<StatusCode>,
    /// The exchanges that came from the cache.
    pub cache_hits: u32,
    /// The exchanges that did not come from the cache.
    pub cache_misses: u32,
}

impl RequestContext {
    /// Records the phone number of the request in E.164, without its last four digits.
    ///
    /// A number that was typed with letters is not recorded. Letters stand for digits of a keypad,
    /// so that `(305) 234-5678 home` is a number of 14 digits. Without the last four it would still
    /// be the whole number of a person.
    pub fn set_phone_number(&mut self, text: &str, national_number: &str, e164: &str) {
        let typed_digits: String = text.chars().filter(char::is_ascii_digit).collect();
        if typed_digits.contains(national_number) {
            self.phone_number = Some(masked(e164));
        }
    }
}

tokio::task_local! {
    static CONTEXT: RefCell<RequestContext>;
}

/// Records something about the request that is being answered. Does nothing if there is none.
pub fn record(set: impl FnOnce(&mut RequestContext)) {
    _ = CONTEXT.try_with(|context| set(&mut context.borrow_mut()));
}

/// The version of the data that the request is answered from, once that is known.
pub(crate) fn data_version() -> Option<String> {
    CONTEXT.try_with(|context| context.borrow().data_version.clone()).ok().flatten()
}

/// Runs `request` with a context of its own. Returns its outcome and the context.
pub(crate) async fn scope<T>(request: impl Future<Output = T>) -> (T, RequestContext) {
    let request_and_context = async {
        let outcome = request.await;
        (outcome, CONTEXT.with(RefCell::take))
    };
    CONTEXT.scope(RefCell::default(), request_and_context).await
}

/// A number in E.164 with asterisks for its last four digits.
fn masked(e164: &str) -> String {
    let digits = e164.trim_start_matches('+');
    let masked = digits.len().min(MASKED_DIGITS);
    let shown = &digits[..digits.len() - masked];
    format!("+{shown}{}", "*".repeat(masked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_four_digits_are_masked() {
        for (e164, expected) in
            [("+13052345678", "+1305234****"), ("+49112", "+4****"), ("+112", "+***"), ("+", "+")]
        {
            assert_eq!(masked(e164), expected);
        }
    }

    #[test]
    fn a_number_with_letters_is_not_recorded() {
        let mut context = RequestContext::default();
        context.set_phone_number("+49 30 1234 home", "3012344663", "+493012344663");
        assert_eq!(context.phone_number, None);
        context.set_phone_number("+49 (0) 30 1234", "301234", "+49301234");
        assert_eq!(context.phone_number.as_deref(), Some("+4930****"));
    }
}
