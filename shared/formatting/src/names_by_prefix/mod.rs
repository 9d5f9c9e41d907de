//! Places and mobile networks, from libphonenumber's names by prefix.
//!
//! `.ci/libphonenumber/generate` writes the tables. Each is unpacked on first use.

mod languages;
mod table;

use std::sync::LazyLock;

pub use languages::{InvalidLanguage, Languages};
pub use table::LocalName;

use super::{number::PhoneNumber, number_type::NumberType};
use table::Table;

/// Argentina, whose mobile numbers have a 9 before the area code.
const ARGENTINA: i32 = 54;

static PLACES: LazyLock<Table> = LazyLock::new(|| {
    Table::from_packed(include_bytes!("places.fst.zst"), include_bytes!("places.txt.zst"))
});
static NETWORKS: LazyLock<Table> = LazyLock::new(|| {
    Table::from_packed(include_bytes!("networks.fst.zst"), include_bytes!("networks.txt.zst"))
});

impl PhoneNumber {
    /// The city or region where the number may be. `None` if it is unknown, or the number does not belong to a place.
    pub fn place(&self, languages: &Languages) -> Option<LocalName> {
        let calling_code = self.country_calling_code;
        let number_type = self.number_type?;
        let mut national_number = &*self.national_number;
        if calling_code == ARGENTINA {
            national_number = national_number.strip_prefix('9').unwrap_or(national_number);
        }
        number_type
            .belongs_to_place(calling_code)
            .then(|| PLACES.find(&format!("{calling_code}{national_number}"), languages))?
    }

    /// The mobile network that the number's range was first assigned to. `None` if it is unknown, or the number's type is not
    /// mobile.
    pub fn network(&self, languages: &Languages) -> Option<LocalName> {
        let is_mobile = matches!(
            self.number_type?,
            NumberType::Mobile | NumberType::FixedLineOrMobile | NumberType::Pager
        );
        let digits = self.formats.e164.trim_start_matches('+');
        is_mobile.then(|| NETWORKS.find(digits, languages))?
    }
}

/// The cities and regions in North America, such as `Miami, FL`, in no particular order.
pub fn north_american_places() -> impl Iterator<Item = &'static str> {
    PLACES.names_within("1", "2").map(|it| it.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DefaultCountry;

    /// A number's place and network, with their languages.
    fn names(e164: &str, language: &str) -> [Option<(&'static str, &'static str)>; 2] {
        let number = PhoneNumber::parse(e164, DefaultCountry::default()).unwrap();
        let languages = language.parse().unwrap();
        [number.place(&languages), number.network(&languages)]
            .map(|found| found.map(|it| (it.name, it.language)))
    }

    #[test]
    fn names_are_in_the_requested_language_or_english() {
        for (e164, language, place, network) in [
            ("+493012345678", "en", Some(("Berlin", "en")), None),
            ("+3222345678", "de-BE", Some(("Brüssel", "de")), None),
            ("+3222345678", "fi", Some(("Brussels", "en")), None),
            ("+97221234567", "he", Some(("ירושלים", "he")), None),
            ("+12122345678", "zh", Some(("New York, NY", "en")), None),
            ("+447400123456", "en", None, Some(("Three", "en"))),
            (
                "+8613912345678",
                "zh-TW",
                Some(("江苏省常州市", "zh")),
                Some(("中國移動", "zh-Hant")),
            ),
            // Toll-free, an unassigned calling code, and an invalid number.
            ("+18002345678", "en", None, None),
            ("+80012345678", "en", None, None),
            ("+15551234", "en", None, None),
        ] {
            assert_eq!(names(e164, language), [place, network], "{e164} in {language}");
        }
    }

    #[test]
    fn argentine_mobile_numbers_have_the_place_of_their_area_code() {
        let [place, network] = names("+5493512345678", "es");
        assert_eq!(place, names("+543512345678", "es")[0]);
        assert!(place.is_some() && network.is_some(), "{place:?} {network:?}");
    }

    #[test]
    fn cities_in_north_america_end_with_their_state() {
        assert!(north_american_places().any(|name| name == "Miami, FL"));
        assert!(north_american_places().any(|name| name == "Montreal, QC"));
        assert!(!north_american_places().any(|name| name == "Berlin"));
    }
}
