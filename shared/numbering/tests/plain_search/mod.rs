//! A naive reference search: it checks every exchange against the rules in docs/API-DESIGN.md without the
//! service's code.
//!
//! Tests compare the dataset's search with it, and benchmarks measure both.

use std::{cell::RefCell, collections::HashMap};

use jiff::civil::Date;
use numbering::{
    dataset::{Dataset, Search},
    records::{Carrier, CarrierType, Exchange, Ocn},
};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The name filters in a search, as sent by a client.
#[derive(Debug, Clone, Default)]
pub struct NameFilters {
    pub words: Option<String>,
    pub company: Option<String>,
    pub rate_center: Option<String>,
}

/// All exchanges, plus the carriers' common names, which exchanges do not contain.
pub struct PlainSearch {
    exchanges: Vec<Exchange>,
    common_names: HashMap<Ocn, String>,
}

/// The holder and place of an exchange or one of its effective blocks.
struct Assignment<'a> {
    ocn: Option<Ocn>,
    carrier_type: Option<CarrierType>,
    holder_names: [Option<&'a str>; 2],
    rate_center: Option<&'a str>,
}

impl PlainSearch {
    pub fn new(dataset: &Dataset) -> Self {
        let common_name = |carrier: Carrier| Some((carrier.ocn, carrier.common_name?));
        Self {
            exchanges: dataset.exchanges().collect(),
            common_names: dataset.carriers().filter_map(common_name).collect(),
        }
    }

    /// The exchanges that match the codes in `search` and the names in `filters`.
    pub fn find(&self, search: &Search, filters: &NameFilters, today: Date) -> Vec<&Exchange> {
        let conditions = Conditions::new(filters);
        let found = self.exchanges.iter();
        found.filter(|exchange| self.matches(exchange, search, &conditions, today)).collect()
    }

    fn matches(
        &self,
        exchange: &Exchange,
        search: &Search,
        conditions: &Conditions,
        today: Date,
    ) -> bool {
        let has_codes = search.npa.is_none_or(|npa| exchange.npa == npa)
            && search.nxx.is_none_or(|nxx| exchange.nxx == nxx)
            && search.status.is_none_or(|status| exchange.status == status)
            && search.country.is_none_or(|country| exchange.country == country)
            && search.state.is_none_or(|state| exchange.state == Some(state));
        if !has_codes {
            return false;
        }
        let assignments = self.assignments(exchange, today);
        let is_holder = |assignment: &Assignment<'_>| {
            search.ocn.is_none_or(|ocn| assignment.ocn == Some(ocn))
                && search.carrier_type.is_none_or(|wanted| assignment.carrier_type == Some(wanted))
                && conditions.company.as_ref().is_none_or(|company| {
                    assignment.holder_names.into_iter().flatten().any(|name| company.matches(name))
                })
        };
        assignments.iter().any(is_holder)
            && conditions.rate_center.as_ref().is_none_or(|wanted| {
                assignments.iter().filter_map(|it| it.rate_center).any(|name| wanted.matches(name))
            })
            && conditions.words.iter().all(|word| {
                let has_prefix = |letters: &NameCondition| {
                    let names = assignments.iter().flat_map(Assignment::names);
                    names.into_iter().any(|name| letters.matches(name))
                };
                has_prefix(&word.joined) || word.parts.iter().all(has_prefix)
            })
    }

    fn assignments<'a>(&'a self, exchange: &'a Exchange, today: Date) -> Vec<Assignment<'a>> {
        let common_name = |ocn: Option<Ocn>| Some(self.common_names.get(&ocn?)?.as_str());
        let own = Assignment {
            ocn: exchange.ocn,
            carrier_type: exchange.carrier_type,
            holder_names: [exchange.company_name.as_deref(), common_name(exchange.ocn)],
            rate_center: exchange.rate_center.as_deref(),
        };
        let effective = exchange.blocks.values().filter(|block| block.is_effective_on(today));
        let blocks = effective.map(|block| Assignment {
            ocn: Some(block.ocn),
            carrier_type: block.carrier_type,
            holder_names: [block.company_name.as_deref(), common_name(Some(block.ocn))],
            rate_center: block.rate_center.as_deref(),
        });
        [own].into_iter().chain(blocks).collect()
    }
}

impl<'a> Assignment<'a> {
    fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let [company_name, common_name] = self.holder_names;
        [company_name, common_name, self.rate_center].into_iter().flatten()
    }
}

/// A condition on one name. Results are memoized, since names repeat.
struct NameCondition {
    rule: NameRule,
    memoized: RefCell<HashMap<String, bool>>,
}

/// A rule for one name, split by [`words`].
enum NameRule {
    /// A word of the name, or a part of one, starts with these letters.
    StartsWith(String),
    /// The name equals this one, ignoring punctuation.
    Equals(Vec<Vec<String>>),
}

impl NameCondition {
    fn matches(&self, name: &str) -> bool {
        let mut memoized = self.memoized.borrow_mut();
        if !memoized.contains_key(name) {
            memoized.insert(name.to_owned(), self.rule.matches(name));
        }
        memoized[name]
    }
}

impl NameRule {
    fn matches(&self, name: &str) -> bool {
        let name = words(name);
        match self {
            Self::StartsWith(letters) => name.iter().any(|parts| {
                (0..parts.len()).any(|first| parts[first..].concat().starts_with(letters))
            }),
            Self::Equals(wanted) => {
                // Spaces in one may be spaces or punctuation in the other.
                let has_breaks = |spaces: &[Vec<String>], other: &[Vec<String>]| {
                    let breaks = breaks(other, true);
                    self::breaks(spaces, false).iter().all(|place| breaks.contains(place))
                };
                wanted.concat().concat() == name.concat().concat()
                    && has_breaks(wanted, &name)
                    && has_breaks(&name, wanted)
            }
        }
    }
}

/// The offsets in letters at which words end, and word parts too if `with_parts`.
fn breaks(words: &[Vec<String>], with_parts: bool) -> Vec<usize> {
    let mut letters = 0;
    let mut breaks = Vec::new();
    for parts in words {
        for part in parts {
            letters += part.len();
            breaks.extend(with_parts.then_some(letters));
        }
        breaks.push(letters);
    }
    breaks
}

struct WordCondition {
    joined: NameCondition,
    parts: Vec<NameCondition>,
}

struct Conditions {
    words: Vec<WordCondition>,
    company: Option<NameCondition>,
    rate_center: Option<NameCondition>,
}

impl Conditions {
    fn new(filters: &NameFilters) -> Self {
        let condition = |rule| NameCondition { rule, memoized: RefCell::default() };
        let starts_with = |letters: String| condition(NameRule::StartsWith(letters));
        let equals = |name: &String| condition(NameRule::Equals(words(name)));
        let word_condition = |parts: Vec<String>| WordCondition {
            joined: starts_with(parts.concat()),
            parts: parts.into_iter().map(starts_with).collect(),
        };
        Self {
            words: filters.words.iter().flat_map(|text| words(text)).map(word_condition).collect(),
            company: filters.company.as_ref().map(equals),
            rate_center: filters.rate_center.as_ref().map(equals),
        }
    }
}

/// The space-separated words in `text`, each as its punctuation-separated parts, in lowercase and without
/// accents.
fn words(text: &str) -> Vec<Vec<String>> {
    let without_accents: String = text.chars().filter(|&it| !is_combining_mark(it)).collect();
    let words = without_accents.split_whitespace().map(parts).collect::<Vec<_>>();
    words.into_iter().filter(|parts| !parts.is_empty()).collect()
}

fn parts(word: &str) -> Vec<String> {
    let is_in_word = |letter: char| letter.is_alphanumeric() && !"ʻʼ".contains(letter);
    let parts = word.split(|letter| !is_in_word(letter)).filter(|part| !part.is_empty());
    let folded = parts.map(|part| {
        let plain = part.nfkd().filter(|&it| it.is_alphanumeric() && !is_combining_mark(it));
        plain.collect::<String>().to_lowercase().replace('œ', "oe").replace('æ', "ae")
    });
    folded.collect()
}
