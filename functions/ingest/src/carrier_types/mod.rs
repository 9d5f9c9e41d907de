//! Carrier types, line types and common names, derived from company names, since no report contains them.
//!
//! A table of company families comes first, then rules for words anywhere in a name. Other companies have
//! no type. The operator's own list of carriers takes precedence over both.

#[cfg(test)]
mod tests;

use std::{collections::HashMap, iter, sync::LazyLock};

use itertools::Itertools;
use numbering::{
    dataset::folded_words,
    records::{CarrierType, LineType, Ocn, StateCode, TypeBasis},
};
use serde::Deserialize;

/// Company families by the first words of their names. Each row has a reason.
const FAMILIES: &str = include_str!("company_families.csv");
/// Rules for consecutive words anywhere in a name. The first rule that matches wins.
const NAME_WORDS: &str = include_str!("name_words.csv");
/// The words of the rule for names that end in a state, such as `ACME TELECOM, INC. - NY`.
const STATE_AT_END: &str = "- ST";

#[derive(Debug, Deserialize)]
struct KnownCompany {
    words: String,
    /// For families: the only company with this name that the row describes.
    #[serde(default)]
    ocn: Option<Ocn>,
    /// `None` for a family of companies with the same name but several types.
    #[serde(rename = "type")]
    carrier_type: Option<CarrierType>,
    /// The line type, if the carrier type does not determine it.
    #[serde(rename = "line")]
    line_type: Option<LineType>,
    common_name: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct CompanyFacts {
    pub carrier_type: Option<(CarrierType, TypeBasis)>,
    /// The line type, if the carrier type does not determine it.
    pub line_type: Option<LineType>,
    pub common_name: Option<&'static str>,
}

struct Tables {
    families: HashMap<String, Vec<KnownCompany>>,
    /// The words of each rule, with a space before and after.
    name_words: Vec<(String, KnownCompany)>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    families: rows(FAMILIES).map(|row| (folded_words(&row.words), row)).into_group_map(),
    name_words: rows(NAME_WORDS).map(|row| (rule_words(&row.words), row)).collect(),
});

fn rows(table: &'static str) -> impl Iterator<Item = KnownCompany> {
    let rows = csv::Reader::from_reader(table.as_bytes()).into_deserialize();
    rows.map(|row| row.expect("the tables are compiled in, and a test reads them"))
}

fn rule_words(words: &str) -> String {
    if words == STATE_AT_END { words.to_owned() } else { format!(" {} ", folded_words(words)) }
}

/// Derives facts from a company's name. A family's type takes precedence over a rule's.
pub(crate) fn find(company_name: &str, ocn: Ocn) -> CompanyFacts {
    let (family, rule) = (find_family(company_name, ocn), find_rule(company_name));
    let typed_family = family.filter(|row| row.carrier_type.is_some());
    let typed = typed_family
        .map(|row| (row, TypeBasis::CompanyFamily))
        .or_else(|| Some((rule?, TypeBasis::CompanyName)));
    CompanyFacts {
        carrier_type: typed.and_then(|(row, basis)| Some((row.carrier_type?, basis))),
        line_type: typed.and_then(|(row, _)| row.line_type),
        common_name: family.into_iter().chain(rule).find_map(|row| row.common_name.as_deref()),
    }
}

/// Finds a company's family. If several match, the one with the most words wins, then the one that names the OCN.
fn find_family(company_name: &str, ocn: Ocn) -> Option<&'static KnownCompany> {
    let name = folded_words(company_name);
    iter::successors(Some(&*name), |start| Some(start.rsplit_once(' ')?.0)).find_map(|start| {
        let rows = TABLES.families.get(start)?;
        let with_ocn = |ocn| rows.iter().find(move |row| row.ocn == ocn);
        with_ocn(Some(ocn)).or_else(|| with_ocn(None))
    })
}

fn find_rule(company_name: &str) -> Option<&'static KnownCompany> {
    let state = if ends_in_state(company_name) { STATE_AT_END } else { "" };
    let words = format!(" {} {state}", folded_words(company_name));
    let rule = TABLES.name_words.iter().find(|(rule, _)| words.contains(rule))?;
    Some(&rule.1)
}

fn ends_in_state(company_name: &str) -> bool {
    let last = company_name.rsplit_once('-').map(|(_, last)| last.trim());
    last.is_some_and(|last| last.parse::<StateCode>().is_ok())
}
