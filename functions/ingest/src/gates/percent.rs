//! A share as an operator gives it.

use std::{fmt, str::FromStr};

use serde::Deserialize;

/// A share, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Percent(f64);

/// A number that is no share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a number from 0 to 100")]
pub struct NoPercent;

impl Percent {
    pub(crate) const fn of(percent: u8) -> Self {
        Self(percent as f64)
    }

    pub(super) fn percent(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Percent {
    type Error = NoPercent;

    fn try_from(percent: f64) -> Result<Self, NoPercent> {
        if (0.0..=100.0).contains(&percent) { Ok(Self(percent)) } else { Err(NoPercent) }
    }
}

impl FromStr for Percent {
    type Err = NoPercent;

    fn from_str(text: &str) -> Result<Self, NoPercent> {
        text.parse::<f64>().map_err(|_| NoPercent)?.try_into()
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
    fn a_percentage_is_one() {
        assert_eq!("2.5".parse(), Ok(Percent(2.5)));
        for text in ["nan", "-1", "101", "inf", "", "two"] {
            assert_eq!(text.parse::<Percent>(), Err(NoPercent), "{text}");
        }
    }
}
