//! The options that let an import pass the gates.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// An operator's exceptions to the gates for one import; none by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Waivers {
    /// Maximum records of one kind that may differ from the older version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_change: Option<u32>,
    /// Maximum exchanges that one state, carrier or area code may lose or have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_loss: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_suspect: Option<Percent>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_older: bool,
}

impl Waivers {
    pub fn arguments(&self) -> Vec<String> {
        let values = [
            ("--max-change", self.max_change.map(|count| count.to_string())),
            ("--max-loss", self.max_loss.map(|count| count.to_string())),
            ("--max-suspect", self.max_suspect.map(|percent| percent.to_string())),
        ];
        let given =
            values.into_iter().filter_map(|(option, value)| Some([option.to_owned(), value?]));
        let older = self.allow_older.then(|| "--allow-older".to_owned());
        given.flatten().chain(older).collect()
    }

    /// Returns `true` if these allow everything that `needed` allows.
    pub(super) fn cover(&self, needed: &Self) -> bool {
        self.with(*needed) == *self
    }

    /// Returns the smallest waivers that cover both.
    pub(super) fn with(self, other: Self) -> Self {
        let is_larger = other.max_suspect > self.max_suspect;
        Self {
            max_change: self.max_change.max(other.max_change),
            max_loss: self.max_loss.max(other.max_loss),
            max_suspect: if is_larger { other.max_suspect } else { self.max_suspect },
            allow_older: self.allow_older || other.allow_older,
        }
    }
}

/// A percentage from 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Percent(f64);

const NOT_A_PERCENTAGE: &str = "must be a number from 0 to 100";

impl Percent {
    pub(super) fn at_least(share: f64) -> Self {
        Self(((share * 10.0).ceil() / 10.0).min(100.0))
    }
}

impl TryFrom<f64> for Percent {
    type Error = &'static str;

    fn try_from(percent: f64) -> Result<Self, Self::Error> {
        if (0.0..=100.0).contains(&percent) { Ok(Self(percent)) } else { Err(NOT_A_PERCENTAGE) }
    }
}

impl FromStr for Percent {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<f64>().map_err(|_| NOT_A_PERCENTAGE)?.try_into()
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waivers_cover_smaller_ones_and_convert_to_arguments() {
        let loss = Waivers { max_loss: Some(670), ..Waivers::default() };
        let suspect = Waivers { max_suspect: Some(Percent(1.3)), ..Waivers::default() };
        let both = loss.with(suspect);
        assert!(both.cover(&loss) && both.cover(&suspect) && both.cover(&Waivers::default()));
        assert!(!loss.cover(&both) && !Waivers::default().cover(&loss));
        assert!(!loss.cover(&Waivers { max_loss: Some(671), ..loss }));
        assert!(!both.cover(&Waivers { allow_older: true, ..both }));
        let all = Waivers { max_change: Some(4893), allow_older: true, ..both };
        let expected = "--max-change 4893 --max-loss 670 --max-suspect 1.3 --allow-older";
        assert_eq!(all.arguments().join(" "), expected);
        assert_eq!(Waivers::default().arguments(), Vec::<String>::new());
    }

    #[test]
    fn percentage_is_a_number_from_0_to_100() {
        assert_eq!("2.5".parse(), Ok(Percent(2.5)));
        assert_eq!([1.21, 1.3, 99.99].map(Percent::at_least), [1.3, 1.3, 100.0].map(Percent));
        for text in ["nan", "-1", "101", "inf", "", "two"] {
            assert_eq!(text.parse::<Percent>(), Err(NOT_A_PERCENTAGE), "{text}");
        }
    }
}
