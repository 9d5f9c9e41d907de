//! Parses and describes phone numbers by the rules in Google's libphonenumber, behind a small interface.
//!
//! The rules come from [`rlibphonenumber`], whose version is pinned. No other crate uses it directly.

mod country;
mod country_plan;
mod first_digits;
mod formats;
mod masks;
mod metadata;
mod names_by_prefix;
mod north_america;
mod number;
mod number_type;
mod numbers_in_text;
mod reading;
mod text;
mod time_zones;
mod tolerant;
mod verdict;

pub use country::{DefaultCountry, country_name};
pub use country_plan::CountryPlan;
pub use formats::Formats;
pub use metadata::load_rules;
pub use names_by_prefix::{Languages, LocalName, north_american_places};
pub use number::PhoneNumber;
pub use number_type::NumberType;
pub use numbers_in_text::{Leniency, NumberInText, RulesError, find_numbers};
pub use text::MAX_INPUT_LENGTH;
pub use time_zones::{time_zones_for_area_codes, time_zones_for_calling_code};
pub use verdict::{Reason, Verdict};
