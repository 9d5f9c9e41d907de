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
