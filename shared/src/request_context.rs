//! What is learned about a request while it is answered, for its line in the access log.

use std::cell::RefCell;

/// How many characters of a phone number stay out of the log.
const MASKED: usize = 4;

/// RequestContext collected while a request is handled.
#[derive(Debug, Default)]
pub struct RequestContext {
    /// The first characters of the key, by which an operator knows it.
    pub key: Option<String>,
    /// The version of the data that answered.
    pub data_version: Option<String>,
    pub cache_hits: u32,
    pub cache_misses: u32,
    /// In E.164, without its last four digits.
    pub(crate) phone_number: Option<String>,
}

impl RequestContext {
    /// The number the client asked about, in E.164; its end is left out.
    ///
    /// Letters count as digits on a keypad, so that `(305) 234-5678 home` is a number of 14 digits
    /// which without its last four is still somebody's. Such a number is not told at all.
    pub fn set_phone_number(&mut self, text: &str, national_number: &str, e164: &str) {
        let typed: String = text.chars().filter(char::is_ascii_digit).collect();
        if typed.contains(national_number) {
            self.phone_number = Some(masked(e164));
        }
    }
}

tokio::task_local! {
    static CONTEXT: RefCell<RequestContext>;
}

/// Records something about the request that is being answered; outside of one it does nothing.
pub fn record(record: impl FnOnce(&mut RequestContext)) {
    _ = CONTEXT.try_with(|context| record(&mut context.borrow_mut()));
}

/// Runs `request` with a context of its own, and gives both its outcome and the context.
pub(crate) async fn scope<T>(request: impl Future<Output = T>) -> (T, RequestContext) {
    let recorded = async {
        let outcome = request.await;
        (outcome, CONTEXT.with(RefCell::take))
    };
    CONTEXT.scope(RefCell::default(), recorded).await
}

/// A number in E.164 with its last digits starred: all of a national number of up to four.
fn masked(e164: &str) -> String {
    let digits = e164.trim_start_matches('+');
    let masked = digits.len().min(MASKED);
    let kept = &digits[..digits.len() - masked];
    format!("+{kept}{}", "*".repeat(masked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_four_digits_are_starred() {
        assert_eq!(masked("+13052345678"), "+1305234****");
        assert_eq!(masked("+49112"), "+4****");
        assert_eq!(masked("+112"), "+***");
        assert_eq!(masked("+"), "+");
    }

    #[test]
    fn a_number_made_of_letters_is_not_told() {
        let mut context = RequestContext::default();
        context.set_phone_number("+49 30 1234 home", "3012344663", "+493012344663");
        assert_eq!(context.phone_number, None);
        context.set_phone_number("+49 (0) 30 1234", "301234", "+49301234");
        assert_eq!(context.phone_number.as_deref(), Some("+4930****"));
    }
}
