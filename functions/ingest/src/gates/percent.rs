//! A limit of the gates as an operator gives it.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A percentage from 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Percent(f64);

/// The error for a text or number that is not such a percentage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a number from 0 to 100")]
pub struct PercentError;

impl Percent {
    /// The smallest percentage with one decimal that is not below `share`.
    pub(super) fn at_least(share: f64) -> Self {
        Self(((share * 10.0).ceil() / 10.0).min(100.0))
    }
}

impl TryFrom<f64> for Percent {
    type Error = PercentError;

    fn try_from(percent: f64) -> Result<Self, PercentError> {
        if (0.0..=100.0).contains(&percent) { Ok(Self(percent)) } else { Err(PercentError) }
    }
}

impl FromStr for Percent {
    type Err = PercentError;

    fn from_str(text: &str) -> Result<Self, PercentError> {
        text.parse::<f64>().map_err(|_| PercentError)?.try_into()
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
    fn a_percentage_is_a_number_from_0_to_100() {
        assert_eq!("2.5".parse(), Ok(Percent(2.5)));
        assert_eq!([1.21, 1.3, 99.99].map(Percent::at_least), [1.3, 1.3, 100.0].map(Percent));
        for text in ["nan", "-1", "101", "inf", "", "two"] {
            assert_eq!(text.parse::<Percent>(), Err(PercentError), "{text}");
        }
    }
}
