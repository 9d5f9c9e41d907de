//! The reason why text is not a single valid number.

use formatting::Reason;
use serde::Serialize;
use utoipa::ToSchema;

use super::Facts;

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
    /// Finds the reason why the text is not a single valid number; `None` if it is.
    pub fn find(&Facts { text, country, number, .. }: &Facts<'_>) -> Option<Self> {
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
