//! The reason a number is invalid, or not the only one in its text.

use formatting::{DefaultCountry, PhoneNumber, Reason};
use serde::Serialize;
use utoipa::ToSchema;

/// Reason for an invalid number, or for a second one in the text.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Reason)]
pub struct ReasonInfo {
    /// `EMPTY`, `TEXT_TOO_LONG`, `ROUNDED` (by a spreadsheet), `NOT_A_NUMBER`, `INVALID_COUNTRY_CODE`,
    /// `MISSING_AREA_CODE`, `TOO_SHORT`, `TOO_LONG`, `INVALID_LENGTH`, `NO_SUCH_RANGE` or `TWO_NUMBERS`. Later releases
    /// may add others.
    #[schema(pattern = "^[A-Z_]+$", example = "TOO_SHORT")]
    pub code: &'static str,
    /// The reason as a sentence.
    #[schema(example = "The number has too few digits")]
    pub message: String,
    /// E.164 of the second number in the text, with its extension after `;ext=`.
    #[schema(
        required,
        pattern = r"^\+[1-9][0-9]{1,19}(;ext=[0-9]{1,20})?$",
        example = "+12122345678"
    )]
    pub other: Option<String>,
}

impl ReasonInfo {
    /// The reason for a text read as `number` in this country; `None` if it is one valid number.
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
