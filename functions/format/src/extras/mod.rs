//! Parts of a result that are found only on request.

mod assignment;
mod calling_hours;
mod line;
mod network;
mod place;
mod reason;
mod time_zones;

use formatting::{DefaultCountry, Languages, PhoneNumber};
use jiff::{Timestamp, civil::Date};
use numbering::dataset::Dataset;

pub use assignment::Assignment;
pub use calling_hours::CallingHours;
pub use line::LineInfo;
pub use network::NetworkInfo;
pub use place::PlaceInfo;
pub use reason::ReasonInfo;
pub use time_zones::{TimeZoneInfo, find as find_zones, zones};

pub struct Facts<'a> {
    pub text: &'a str,
    /// The country for numbers without a country code.
    pub country: DefaultCountry,
    /// The text as a number; `None` if it cannot be parsed.
    pub number: Option<&'a PhoneNumber>,
    pub dataset: Option<&'a Dataset>,
    pub languages: &'a Languages,
    pub now: Timestamp,
    pub today: Date,
}
