//! Chooses between the readings of a number in a query.

use formatting::{DefaultCountry, PhoneNumber};
use shared::params::Readings;

/// A text, and the number that it is; `None` if it cannot be parsed.
pub struct Read {
    pub text: String,
    pub number: Option<PhoneNumber>,
}

impl Read {
    /// The reading that is the better number: a valid one, or else a possible one, or else one that
    /// can be parsed. Of equals it is the likeliest.
    pub fn best_of(readings: Readings, country: DefaultCountry) -> Self {
        let likeliest = Self::of(readings.likeliest, country);
        let other = readings.other.map(|text| Self::of(text, country));
        match other.filter(|other| other.quality() > likeliest.quality()) {
            Some(better) => better,
            None => likeliest,
        }
    }

    fn of(text: String, country: DefaultCountry) -> Self {
        Self { number: PhoneNumber::parse(&text, country), text }
    }

    /// Greater for a better number.
    fn quality(&self) -> Option<(bool, bool)> {
        self.number.as_ref().map(|number| (number.valid, number.possible))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best_of(likeliest: &str, other: &str) -> String {
        let readings = Readings { likeliest: likeliest.to_owned(), other: Some(other.to_owned()) };
        Read::best_of(readings, DefaultCountry::default()).text
    }

    #[test]
    fn the_better_number_counts_and_of_equals_the_likeliest() {
        for (likeliest, other) in [
            ("+516-607-4335", " 516-607-4335"),
            ("+442079460958", " 442079460958"),
            ("+999", " abc"),
            ("+hello", " hello"),
        ] {
            assert_eq!(best_of(likeliest, other), likeliest);
        }
        for (likeliest, other) in
            [("+305-234-5678", " 305-234-5678"), ("+9995678901", " 9995678901"), ("+", " 12")]
        {
            assert_eq!(best_of(likeliest, other), other);
        }
    }
}
