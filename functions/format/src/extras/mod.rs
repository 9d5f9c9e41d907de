//! Parts of a result that are determined only on request.

mod assignment;
mod line;
mod local_time;
mod place;
mod range;

use formatting::{DefaultCountry, Languages, PhoneNumber, Reason, Verdict};
use jiff::{Timestamp, civil::Date};
use numbering::{dataset::Dataset, time::date_of};
use serde::Serialize;
use store::LoadedCountry;
use utoipa::ToSchema;

use crate::block::is_us_or_canada;

pub use assignment::Assignment;
pub use line::LineInfo;
pub use local_time::{CallingHours, TimeZoneInfo, find as find_zones, zones};
pub use place::PlaceInfo;
pub use range::RangeSource;

pub struct Facts<'a> {
    pub text: &'a str,
    /// The country for numbers without a country code.
    pub country: DefaultCountry,
    /// The text as a number; `None` if it cannot be parsed.
    pub number: Option<&'a PhoneNumber>,
    pub dataset: Option<&'a Dataset>,
    pub languages: &'a Languages,
    pub now: Timestamp,
    /// The countries whose ranges are known.
    pub countries: &'a [LoadedCountry],
}

impl Facts<'_> {
    pub fn today(&self) -> Date {
        date_of(self.now)
    }

    fn reason(&self) -> Option<Reason> {
        Reason::find(self.text, self.country, self.number)
    }

    pub fn verdict(&self) -> Verdict {
        Verdict::new(self.text, self.country, self.number, self.reason())
    }
}

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
    /// Determines why the text is not a single valid number; `None` if it is one.
    pub fn find(facts: &Facts<'_>) -> Option<Self> {
        let reason = facts.reason()?;
        let subject = match reason {
            Reason::Empty | Reason::TextTooLong | Reason::NotANumber | Reason::TwoNumbers => "text",
            _ => "number",
        };
        Some(Self {
            code: reason.code(),
            message: format!("The {subject} {reason}"),
            other: facts.number.and_then(|number| number.other.clone()),
        })
    }
}

/// The mobile network that the number's range was first assigned to. The number may have been ported since.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Network)]
pub struct NetworkInfo {
    #[schema(example = "Vodafone")]
    pub(crate) name: &'static str,
    pub(crate) basis: NetworkBasis,
}

/// The basis of a network.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum NetworkBasis {
    /// Libphonenumber's list of the ranges that regulators first assigned to networks.
    FirstAssignment,
}

impl NetworkInfo {
    /// Finds a number's network. `None` if it is unknown, the number is not a mobile number, or it is in the US or
    /// Canada, where the carrier is known instead.
    pub fn find(facts: &Facts<'_>) -> Option<Self> {
        let number = facts.number?;
        if number.country.as_deref().is_some_and(is_us_or_canada) {
            return None;
        }
        let name = number.network(facts.languages)?.name;
        Some(Self { name, basis: NetworkBasis::FirstAssignment })
    }
}
