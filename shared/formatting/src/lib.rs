//! What a phone number is: Google's libphonenumber rules behind one small interface.
//!
//! The rules are those of [`rlibphonenumber`], pinned; nothing outside this module names it.

mod country;
mod metadata;
mod normalize;
mod number;

pub use country::{DefaultCountry, UnknownCountry, country_name};
pub use normalize::LONGEST_INPUT;
pub use number::{Formats, NumberType, PhoneNumber};
