//! How far an import may move the data. `docs/decisions/0007-gates.md` tells how each default was
//! chosen.

use super::Percent;
use crate::Options;

/// An import is never refused for fewer records than these: in a small area code a few records are
/// a large share.
pub(super) const FEWEST: u32 = 20;

/// A country with fewer records than these may be uniform, or lack a column.
pub(super) const FEWEST_OF_A_COUNTRY: u32 = 1000;

/// The limits of one import, each in percent or percentage points.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thresholds {
    /// Most that a count may fall.
    pub shrink: f64,
    /// Most that the records of one area code may fall.
    pub area_code_shrink: f64,
    /// Most that the number of different values of a column may fall.
    pub distinct_shrink: f64,
    /// Points by which the coverage of a column may move in a country.
    pub country_points: f64,
    /// Points by which the coverage of a column may move in an area code.
    pub area_code_points: f64,
    /// Most of the records in both versions that may change in themselves.
    pub changed: f64,
    /// Most of a file's rows whose word in a column may be unknown.
    pub unknown: f64,
    /// Most of a country's records that may lack a needed column.
    pub blank: f64,
    /// Most of a country's records that may share one value of a column.
    pub same: f64,
    /// Most of a country's records that may share one status.
    pub same_status: f64,
    /// Most of the carriers whose OCN may come with several names.
    pub several_names: f64,
}

impl Thresholds {
    /// The defaults, raised to the limits that `options` give. Only the limit of the counts follows
    /// `max_shrink` downwards as well.
    pub(super) fn of(options: &Options) -> Self {
        let raise = |default: f64, limit: Option<Percent>| {
            limit.map_or(default, |limit| limit.value().max(default))
        };
        let shrink = |default: f64| raise(default, Some(options.max_shrink));
        let change = |default: f64| raise(default, options.max_change);
        let suspect = |default: f64| raise(default, options.max_suspect);
        Self {
            shrink: options.max_shrink.value(),
            area_code_shrink: shrink(10.0),
            distinct_shrink: shrink(10.0),
            country_points: change(2.0),
            area_code_points: change(20.0),
            changed: change(5.0),
            unknown: suspect(1.0),
            blank: suspect(90.0),
            same: suspect(90.0),
            same_status: suspect(99.5),
            several_names: suspect(25.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_raises_lower_limits_and_lowers_none() {
        let change = Options { max_change: Some(Percent::of(5)), ..Options::default() };
        let thresholds = Thresholds::of(&change);
        assert_eq!((thresholds.country_points, thresholds.area_code_points), (5.0, 20.0));
        let waived = Options { max_suspect: Some(Percent::of(100)), ..Options::default() };
        let thresholds = Thresholds::of(&waived);
        assert_eq!((thresholds.unknown, thresholds.blank), (100.0, 100.0));
        assert_eq!(Thresholds::of(&Options::default()).shrink, 2.0);
    }
}
