//! Search over the exchanges: words that begin words, and exact filters.

use std::{collections::BTreeSet, str::FromStr};

use super::{Dataset, Holder, LazyExchange, Row};
use crate::records::{Carrier, CarrierType, Country, Npa, Nxx, Ocn, State, Status};

/// What an exchange must be to be found; every part that is given has to hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Search {
    /// Each word begins a word of the company name, common name or rate center.
    pub words: Option<Words>,
    pub npa: Option<Npa>,
    pub nxx: Option<Nxx>,
    pub ocn: Option<Ocn>,
    /// The whole company name or common name, without case.
    pub company: Option<String>,
    /// The whole rate center, without case.
    pub rate_center: Option<String>,
    pub state: Option<State>,
    pub country: Option<Country>,
    pub carrier_type: Option<CarrierType>,
    pub status: Option<Status>,
}

/// The different words of a query in lower case: runs of letters and digits.
#[derive(Debug, Clone, PartialEq)]
pub struct Words(BTreeSet<String>);

/// More than anybody types; each word costs a pass over every name.
const MOST_WORDS: usize = 10;

/// A query that cannot be searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WordsError {
    #[error("must contain a letter or digit")]
    None,
    #[error("must have at most {MOST_WORDS} different words")]
    TooMany,
}

impl FromStr for Words {
    type Err = WordsError;

    fn from_str(text: &str) -> Result<Self, WordsError> {
        let words: BTreeSet<String> =
            words_of(text).map(|word| lower_case(word).collect()).collect();
        match words.len() {
            0 => Err(WordsError::None),
            1..=MOST_WORDS => Ok(Self(words)),
            _ => Err(WordsError::TooMany),
        }
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn lower_case(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

/// Whether a word of `name` begins with `prefix`, which is in lower case.
fn has_word_starting_with(name: &str, prefix: &str) -> bool {
    words_of(name).any(|word| {
        let mut word = lower_case(word);
        prefix.chars().all(|expected| word.next() == Some(expected))
    })
}

/// Which names of the dataset satisfy one condition, so that each name is read once and not once
/// an exchange.
struct NameMatches {
    carriers: Vec<bool>,
    companies: Vec<bool>,
    rate_centers: Vec<bool>,
}

impl NameMatches {
    fn company(&self, row: &Row) -> bool {
        match row.holder {
            Some(Holder::Carrier(place)) => self.carriers[place as usize],
            Some(Holder::Company(place)) => self.companies[place as usize],
            None => false,
        }
    }

    fn rate_center(&self, row: &Row) -> bool {
        row.rate_center.is_some_and(|place| self.rate_centers[place as usize])
    }
}

impl Dataset {
    /// The exchanges that `search` describes, by NPA then NXX.
    pub fn search(&self, search: &Search) -> impl Iterator<Item = LazyExchange<'_>> {
        let matches = self.compile(search);
        let rows = match search.npa {
            Some(npa) => self.rows_of(npa),
            None => &self.rows,
        };
        rows.iter().filter(move |row| matches(row)).map(|row| LazyExchange { dataset: self, row })
    }

    fn compile(&self, search: &Search) -> impl Fn(&Row) -> bool + use<> {
        let Search {
            words,
            npa: _,
            nxx,
            ocn,
            company,
            rate_center,
            state,
            country,
            carrier_type,
            status,
        } = search;
        let (nxx, state, country, status) = (*nxx, *state, *country, *status);
        let words: Vec<NameMatches> = words
            .iter()
            .flat_map(|Words(words)| words)
            .map(|word| self.names(|name| has_word_starting_with(name, word)))
            .collect();
        let is = |wanted: &str| self.names(|name| lower_case(name).eq(lower_case(wanted)));
        let company = company.as_deref().map(is);
        let rate_center = rate_center.as_deref().map(is);
        let of_carrier =
            |holds: &dyn Fn(&Carrier) -> bool| self.carriers.iter().map(holds).collect();
        let ocn: Option<Vec<bool>> = ocn.map(|ocn| of_carrier(&|carrier| carrier.ocn == ocn));
        let carrier_type: Option<Vec<bool>> =
            carrier_type.map(|wanted| of_carrier(&|carrier| carrier.carrier_type == Some(wanted)));

        move |row: &Row| {
            nxx.is_none_or(|nxx| row.nxx == nxx)
                && status.is_none_or(|status| row.status == status)
                && country.is_none_or(|country| row.country == country)
                && state.is_none_or(|state| row.state == Some(state))
                && ocn.as_ref().is_none_or(|carriers| held_by(row, carriers))
                && carrier_type.as_ref().is_none_or(|carriers| held_by(row, carriers))
                && company.as_ref().is_none_or(|names| names.company(row))
                && rate_center.as_ref().is_none_or(|names| names.rate_center(row))
                && words.iter().all(|names| names.company(row) || names.rate_center(row))
        }
    }

    fn names(&self, holds: impl Fn(&str) -> bool) -> NameMatches {
        let carrier = |carrier: &Carrier| {
            holds(&carrier.company_name) || carrier.common_name.as_deref().is_some_and(&holds)
        };
        NameMatches {
            carriers: self.carriers.iter().map(carrier).collect(),
            companies: self.companies.iter().map(|name| holds(name)).collect(),
            rate_centers: self.rate_centers.iter().map(|name| holds(name)).collect(),
        }
    }
}

fn held_by(row: &Row, carriers: &[bool]) -> bool {
    matches!(row.holder, Some(Holder::Carrier(place)) if carriers[place as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dataset::tests::example, records::Exchange};

    fn found(search: Search) -> Vec<String> {
        let dataset = example();
        dataset.search(&search).map(|found| Exchange::from(found).npa_nxx().to_string()).collect()
    }

    fn by_words(text: &str) -> Vec<String> {
        found(Search { words: Some(text.parse().unwrap()), ..Search::default() })
    }

    #[test]
    fn each_word_begins_a_word_of_any_name() {
        assert_eq!(by_words("cingular"), ["415-200"]);
        assert_eq!(by_words("at&t"), ["415-200", "415-555"]);
        assert_eq!(by_words("AT&T snfc"), ["415-555"]);
        assert_eq!(by_words("raf wire"), ["415-200"]);
        assert_eq!(by_words("ingular"), [""; 0]);
    }

    #[test]
    fn every_filter_narrows() {
        let pacific = Search { ocn: Some("0051".parse().unwrap()), ..Search::default() };
        assert_eq!(found(pacific.clone()), ["415-300"]);
        assert_eq!(found(Search { nxx: Some("200".parse().unwrap()), ..pacific }), [""; 0]);
        let company = |name: &str| Search { company: Some(name.to_owned()), ..Search::default() };
        assert_eq!(found(company("at&t mobility")), ["415-200"]);
        assert_eq!(found(company("AT&T Corp.")), ["415-555"]);
        assert_eq!(found(company("AT&T")), [""; 0]);
        let rate_center =
            Search { rate_center: Some("snfc cntrl".to_owned()), ..Search::default() };
        assert_eq!(found(rate_center), ["415-300", "415-555"]);
        let wireless = Search { carrier_type: Some(CarrierType::Wireless), ..Search::default() };
        assert_eq!(found(wireless), ["415-200", "415-300"]);
        assert_eq!(found(Search { status: Some(Status::Reserved), ..Search::default() }), [""; 0]);
        assert_eq!(found(Search { country: Some(Country::Ca), ..Search::default() }), [""; 0]);
        assert_eq!(
            found(Search { state: Some("CA".parse().unwrap()), ..Search::default() }).len(),
            3
        );
    }

    #[test]
    fn a_query_needs_a_letter_or_digit() {
        assert_eq!("& -".parse::<Words>(), Err(WordsError::None));
    }

    #[test]
    fn repeated_words_count_once_and_too_many_are_refused() {
        assert_eq!("a ".repeat(5000).parse::<Words>().unwrap(), "A".parse().unwrap());
        let distinct = |count: u32| (0..count).map(|n| format!("{n} ")).collect::<String>();
        assert!(distinct(10).parse::<Words>().is_ok());
        assert_eq!(distinct(11).parse::<Words>(), Err(WordsError::TooMany));
    }
}
