//! A naive reference search: it checks every exchange against the rules in docs/API-DESIGN.md, and shares no code
//! with the service.
//!
//! Tests compare the dataset's search with it, and benchmarks measure both.

use std::collections::HashMap;

use jiff::civil::Date;
use numbering::{
    dataset::{Dataset, Search},
    records::{Carrier, CarrierType, Exchange, Ocn},
};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The name filters of a search, as the client sent them.
#[derive(Debug, Clone, Default)]
pub struct NameFilters {
    pub words: Option<String>,
    pub company: Option<String>,
    pub rate_center: Option<String>,
}

/// The space-separated words of a name, each as its punctuation-separated parts, in lowercase and without accents.
type Words = Vec<Vec<String>>;

/// All exchanges, plus the carriers' common names, which exchanges do not contain.
pub struct PlainSearch {
    exchanges: Vec<Exchange>,
    common_names: HashMap<Ocn, String>,
    /// The words of every name, cached since names repeat.
    words: HashMap<String, Words>,
}

/// The holder and rate center of an exchange or one of its effective blocks.
struct Assignment<'a> {
    ocn: Option<Ocn>,
    carrier_type: Option<CarrierType>,
    holder_names: Vec<&'a str>,
    rate_center: Option<&'a str>,
}

impl PlainSearch {
    pub fn new(dataset: &Dataset) -> Self {
        let common_name = |carrier: Carrier| Some((carrier.ocn, carrier.common_name?));
        let common_names = dataset.carriers().filter_map(common_name).collect();
        let exchanges = dataset.exchanges().collect();
        let mut plain = Self { exchanges, common_names, words: HashMap::new() };
        let assignments = plain.exchanges.iter().map(|it| plain.assignments(it, Date::MAX));
        let names = assignments.flatten().flat_map(|it| it.names().collect::<Vec<_>>());
        plain.words = names.map(|name| (name.to_owned(), words(name))).collect();
        plain
    }

    /// The exchanges that match the codes in `search` and the names in `filters`.
    pub fn find(&self, search: &Search, filters: &NameFilters, today: Date) -> Vec<&Exchange> {
        let wanted: Vec<Vec<String>> = filters.words.iter().flat_map(|text| words(text)).collect();
        let [company, rate_center] =
            [&filters.company, &filters.rate_center].map(|name| name.as_deref().map(words));
        let is_match = |exchange: &&Exchange| {
            let assignments = self.assignments(exchange, today);
            has_codes(exchange, search)
                && assignments.iter().any(|it| {
                    search.ocn.is_none_or(|ocn| it.ocn == Some(ocn))
                        && search.carrier_type.is_none_or(|wanted| it.carrier_type == Some(wanted))
                        && self.any_matches(it.holder_names.iter().copied(), company.as_ref())
                })
                && self.any_matches(
                    assignments.iter().filter_map(|it| it.rate_center),
                    rate_center.as_ref(),
                )
                && wanted.iter().all(|parts| {
                    let starts_word = |letters: &String| {
                        let mut names = assignments.iter().flat_map(Assignment::names);
                        names.any(|name| has_word_with_prefix(&self.words[name], letters))
                    };
                    starts_word(&parts.concat()) || parts.iter().all(starts_word)
                })
        };
        self.exchanges.iter().filter(is_match).collect()
    }

    /// Returns `true` if one of the names equals the wanted one, ignoring punctuation, or if no name is wanted.
    fn any_matches<'a>(
        &self,
        mut names: impl Iterator<Item = &'a str>,
        wanted: Option<&Words>,
    ) -> bool {
        wanted.is_none_or(|wanted| names.any(|name| are_equal(&self.words[name], wanted)))
    }

    fn assignments<'a>(&'a self, exchange: &'a Exchange, today: Date) -> Vec<Assignment<'a>> {
        let assignment =
            |ocn: Option<Ocn>, carrier_type, company_name: &'a Option<String>, rate_center| {
                let common_name = ocn.and_then(|ocn| self.common_names.get(&ocn));
                let holder_names = company_name.as_deref().into_iter();
                let holder_names = holder_names.chain(common_name.map(String::as_str)).collect();
                Assignment { ocn, carrier_type, holder_names, rate_center }
            };
        let Exchange { ocn, carrier_type, company_name, rate_center, .. } = exchange;
        let own = assignment(*ocn, *carrier_type, company_name, rate_center.as_deref());
        let effective = exchange.blocks.values().filter(|block| block.is_effective_on(today));
        let blocks = effective.map(|it| {
            assignment(Some(it.ocn), it.carrier_type, &it.company_name, it.rate_center.as_deref())
        });
        [own].into_iter().chain(blocks).collect()
    }
}

impl<'a> Assignment<'a> {
    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.holder_names.iter().copied().chain(self.rate_center)
    }
}

fn has_codes(exchange: &Exchange, search: &Search) -> bool {
    search.npa.is_none_or(|npa| exchange.npa == npa)
        && search.nxx.is_none_or(|nxx| exchange.nxx == nxx)
        && search.status.is_none_or(|status| exchange.status == status)
        && search.country.is_none_or(|country| exchange.country == country)
        && search.state.is_none_or(|state| exchange.state == Some(state))
}

/// Returns `true` if a word of the name, or a part of one, starts with these letters.
fn has_word_with_prefix(name: &Words, letters: &str) -> bool {
    let starts = |parts: &Vec<String>, first| parts[first..].concat().starts_with(letters);
    name.iter().any(|parts| (0..parts.len()).any(|first| starts(parts, first)))
}

/// Returns `true` if the letters are equal, and each space in one is a space or punctuation in the other.
fn are_equal(one: &Words, other: &Words) -> bool {
    let has_breaks = |spaces: &Words, other: &Words| {
        let breaks = breaks(other, true);
        self::breaks(spaces, false).iter().all(|place| breaks.contains(place))
    };
    one.concat().concat() == other.concat().concat()
        && has_breaks(one, other)
        && has_breaks(other, one)
}

/// The offsets (in letters) where words end, and where word parts end if `with_parts`.
fn breaks(words: &Words, with_parts: bool) -> Vec<usize> {
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

fn words(text: &str) -> Words {
    let without_accents: String = text.chars().filter(|&it| !is_combining_mark(it)).collect();
    without_accents.split_whitespace().map(parts).filter(|parts| !parts.is_empty()).collect()
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
