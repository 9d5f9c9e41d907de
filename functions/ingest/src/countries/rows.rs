//! The ranges in a country's files as published, and the findings about them.

use std::{collections::BTreeMap, fmt::Display};

use numbering::ranges::Range;

use crate::notes::Warning;

/// A published range. Of two rows about the same numbers, the one with the lower precedence value wins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PublishedRange {
    pub range: Range,
    pub precedence: usize,
}

/// The rows of a country's files, and the findings about them.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub ranges: Vec<PublishedRange>,
    /// The first digits of the numbers that the files cover.
    pub covered: Vec<String>,
    pub count: u32,
    pub skipped: BTreeMap<String, u32>,
    /// The number of unknown values by column.
    pub unknown_values: BTreeMap<String, u32>,
    pub warnings: BTreeMap<String, Warning>,
}

impl Rows {
    pub fn warn(&mut self, kind: impl Into<String>, example: impl Display) {
        self.warnings.entry(kind.into()).or_default().count(example);
    }

    pub fn skip(&mut self, reason: &str) {
        *self.skipped.entry(reason.to_owned()).or_default() += 1;
    }
}
