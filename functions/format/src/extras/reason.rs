//! The reason why text is not a single valid number.

use formatting::{DefaultCountry, PhoneNumber, Reason};
use serde::Serialize;
use utoipa::ToSchema;

/// The reason why the text is not a single valid number.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Reason)]
pub struct ReasonInfo {
    /// `EMPTY`, `TEXT_TOO_LONG`, `MASKED` (such as `305-234-XXXX`), `ROUNDED` (by a spreadsheet), `NOT_A_NUMBER`,
    /// `INVALID_COUNTRY_CODE`, `MISSING_AREA_CODE`, `TOO_SHORT`, `TOO_LONG`, `INVALID_LENGTH`, `NO_SUCH_RANGE` or `TWO_NUMBERS`. Later releases
    /// may add more.
    #[schema(pattern = "^[A-Z_]+$", example = "TOO_SHORT")]
    pub code: &'static str,
    /// The reason as a sentence.
    #[schema(example = "The number has too few digits")]
    pub message: String,
    /// The second number in the text, in E.164 with `;ext=` before any extension; `null` if it has only one.
    #[schema(
        required,
        pattern = r"^\+[1-9][0-9]{1,19}(;ext=[0-9]{1,20})?$",
        example = "+12122345678"
    )]
    pub other: Option<String>,
}

impl ReasonInfo {
    /// Finds the reason why `text`, parsed as `number` in this country, is not a single valid number; `None` if it is.
    pub fn find(text: &str, country: DefaultCountry, number: Option<&PhoneNumber>) -> Option<Self> {
        let reason = Reason::find(text, country, number)?;
        let subject = match reason {
            Reason::Empty | Reason::TextTooLong | Reason::NotANumber | Reason::TwoNumbers => "text",
            _ => "number",
        };
        Some(Self {
            code: reason.code(),
            message: format!("The {subject} {reason}"),
            other: number.and_then(|number| number.other.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use test_api::TestApi;

    use crate::routes;

    async fn format(tn: &str) -> Value {
        let target =
            format!("/v1/format?tn={tn}&fields=valid,input,nationalNumber,extension,reason");
        TestApi::new(routes()).ok(&target).await
    }

    #[tokio::test]
    async fn masked_digits_are_the_reason_and_stay_in_the_input() {
        for (tn, input) in
            [("305-234-XXXX", "305-234-XXXX"), ("%2B1%20305%20***%205678", "+1 305 *** 5678")]
        {
            let message = "The number has masked digits";
            let reason = json!({ "code": "MASKED", "message": message, "other": null });
            let expected = json!({ "valid": false, "input": input, "reason": reason });
            assert_eq!(format(tn).await, expected, "{tn}");
        }
    }

    #[tokio::test]
    async fn dialing_codes_are_only_in_the_input() {
        for (tn, input) in [
            ("305-234-5678", "+13052345678"),
            ("*67%20305-234-5678", "*67+13052345678"),
            ("%2331%233052345678", "#31#+13052345678"),
            ("9,1-305-234-5678", "9,+13052345678"),
            ("9-1-305-234-5678", "9,+13052345678"),
            // The input itself.
            ("*67%2B13052345678", "*67+13052345678"),
            ("9,%2B13052345678", "9,+13052345678"),
        ] {
            let expected = json!({
                "valid": true, "input": input, "nationalNumber": "3052345678", "reason": null,
            });
            assert_eq!(format(tn).await, expected, "{tn}");
        }
    }
}
