//! The codes that identify records: OCN, NPA and NXX.
//!
//! Each type holds only valid codes. Text is parsed at the service's boundaries.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::ToSchema;

/// Operating Company Number: four alphanumeric characters, stored in uppercase.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ToSchema)]
#[schema(value_type = String, pattern = "^[0-9A-Z]{4}$", example = "6010")]
pub struct Ocn([u8; 4]);

impl FromStr for Ocn {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        <[u8; 4]>::try_from(text.as_bytes())
            .ok()
            .filter(|code| code.iter().all(u8::is_ascii_alphanumeric))
            .map(|code| Self(code.map(|byte| byte.to_ascii_uppercase())))
            .ok_or("must be exactly 4 alphanumeric characters")
    }
}

impl Ocn {
    fn characters(self) -> [u8; 4] {
        self.0
    }

    /// The characters as a number. Numbers sort like codes.
    pub(crate) fn number(self) -> u32 {
        u32::from_be_bytes(self.0)
    }

    /// Creates a code from its number, which must be valid.
    pub(crate) fn from_number(number: u32) -> Self {
        Self(number.to_be_bytes())
    }
}

fn three_digits(text: &str) -> Result<u16, &'static str> {
    let is_code = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_code).ok_or("must be exactly 3 digits")
}

macro_rules! three_digit_code {
    ($(#[$doc:meta])* $name:ident, $example:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ToSchema)]
        #[schema(value_type = String, pattern = "^[0-9]{3}$", example = $example)]
        pub struct $name(u16);

        impl FromStr for $name {
            type Err = &'static str;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                three_digits(text).map(Self)
            }
        }

        impl $name {
            pub(crate) fn number(self) -> u16 {
                self.0
            }

            /// Creates a code from a number of at most three digits.
            pub(crate) fn from_number(number: u16) -> Self {
                Self(number)
            }

            fn characters(self) -> [u8; 3] {
                [self.0 / 100, self.0 / 10 % 10, self.0 % 10].map(|digit| b'0' + digit as u8)
            }
        }
    };
}

three_digit_code! {
    /// Numbering Plan Area code (area code): the first three digits of a North American number.
    Npa, "415"
}

three_digit_code! {
    /// Exchange code (central office code): the middle three digits of a North American number.
    Nxx, "234"
}

impl Npa {
    /// Returns `true` if the numbering plan allows this area code. The first digit must be 2 to 9. N11 codes
    /// are service codes, and N9X codes are reserved for expansion.
    pub fn can_be_area_code(self) -> bool {
        let (first, middle) = (self.0 / 100, self.0 / 10 % 10);
        first >= 2 && middle != 9 && self.0 % 100 != 11
    }
}

/// An exchange code within an area code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NpaNxx {
    pub npa: Npa,
    pub nxx: Nxx,
}

impl FromStr for NpaNxx {
    type Err = &'static str;

    /// Parses `415-555`, the format of NANPA reports.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('-');
        let (npa, nxx) = parts.ok_or("must be exactly NPA-NXX, as in 415-555")?;
        Ok(Self { npa: npa.parse()?, nxx: nxx.parse()? })
    }
}

impl fmt::Display for NpaNxx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.npa, self.nxx)
    }
}

pub(super) fn ascii_text(characters: &[u8]) -> &str {
    str::from_utf8(characters).unwrap_or_default()
}

/// Displays and serializes a code as text. Formatting macros are slower, and a page contains hundreds of codes.
macro_rules! serialize_as_text {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(ascii_text(&self.characters()))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(ascii_text(&self.characters()))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}
pub(super) use serialize_as_text;

serialize_as_text!(Ocn);
serialize_as_text!(Npa);
serialize_as_text!(Nxx);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_validated_and_uppercased_with_leading_zeros() {
        assert_eq!("073h".parse::<Ocn>().unwrap().to_string(), "073H");
        assert_eq!("415-007".parse::<NpaNxx>().unwrap().to_string(), "415-007");
        assert!("415007".parse::<NpaNxx>().is_err());
        for text in ["", "12", "1234", "+12", "1 2", "１２３", "-12", "1e2", "12\n"] {
            assert!(text.parse::<Npa>().is_err(), "{text:?}");
        }
        for text in ["", "abc", "abcde", "ab-1", "é12", "ab1 "] {
            assert!(text.parse::<Ocn>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn area_codes_follow_the_numbering_plan() {
        let can_be = |npa: &str| npa.parse::<Npa>().unwrap().can_be_area_code();
        for npa in ["201", "415", "500", "600", "710", "800", "867", "900", "989"] {
            assert!(can_be(npa), "{npa}");
        }
        for npa in ["000", "099", "111", "199", "211", "911", "290", "999"] {
            assert!(!can_be(npa), "{npa}");
        }
    }
}
