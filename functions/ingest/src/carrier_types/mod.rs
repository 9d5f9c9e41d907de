//! Carrier types and everyday names, derived from company names, since no report contains them.
//!
//! A table of company families comes first, then rules for words anywhere in a name. A company that matches neither has
//! no type. The operator's own list of carriers takes precedence over both.

mod coverage;
#[cfg(test)]
mod tests;

use std::{collections::HashMap, iter, sync::LazyLock};

use numbering::{
    dataset::folded_words,
    records::{CarrierType, LineType, TypeBasis},
};
use serde::Deserialize;

pub use coverage::{CompanyCount, ExchangesByBasis, TypeCoverage};

/// Families by the first words of their companies' names, with the reason for each row.
const FAMILIES: &str = include_str!("company_families.csv");
/// Consecutive words in any name. The first rule that matches wins.
const NAME_WORDS: &str = include_str!("name_words.csv");

/// A row of either table.
#[derive(Debug, Deserialize)]
pub(crate) struct KnownCompany {
    words: String,
    /// `None` for a family whose companies have several types under one name.
    #[serde(rename = "type")]
    pub carrier_type: Option<CarrierType>,
    #[serde(skip, default = "company_family")]
    pub basis: TypeBasis,
    /// The line type, if the carrier type does not determine it. Families only.
    #[serde(rename = "line", default)]
    pub line_type: Option<LineType>,
    /// The name that people use. Families only.
    #[serde(default)]
    pub common_name: Option<String>,
}

struct Tables {
    families: HashMap<String, KnownCompany>,
    /// Each rule's words, with a space before and after.
    name_words: Vec<(String, KnownCompany)>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    families: rows(FAMILIES).map(|row| (folded_words(&row.words), row)).collect(),
    name_words: rows(NAME_WORDS)
        .map(|row| KnownCompany { basis: TypeBasis::CompanyName, ..row })
        .map(|row| (format!(" {} ", folded_words(&row.words)), row))
        .collect(),
});

const fn company_family() -> TypeBasis {
    TypeBasis::CompanyFamily
}

fn rows(table: &'static str) -> impl Iterator<Item = KnownCompany> {
    let rows = csv::Reader::from_reader(table.as_bytes()).into_deserialize();
    rows.map(|row| row.expect("the tables are compiled in, and a test reads them"))
}

/// Finds a company by name. If several families match, the one with the most words wins.
pub(crate) fn find(company_name: &str) -> Option<&'static KnownCompany> {
    let Tables { families, name_words } = &*TABLES;
    let name = folded_words(company_name);
    let starts = iter::successors(Some(&*name), |start| Some(start.rsplit_once(' ')?.0));
    let words = format!(" {name} ");
    starts.into_iter().find_map(|start| families.get(start)).or_else(|| {
        let rule = name_words.iter().find(|(rule, _)| words.contains(rule))?;
        Some(&rule.1)
    })
}
