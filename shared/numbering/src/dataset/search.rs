//! Search over the exchanges: words that begin words, and exact filters.

use std::{collections::BTreeSet, str::FromStr};

use jiff::civil::Date;

use super::{Block, Dataset, Holder, LazyExchange, Row};
use crate::records::{Carrier, CarrierType, Country, Npa, Nxx, Ocn, State, Status, has_begun};

/// What an exchange must be to be found; every part that is given has to hold.
///
/// What is asked of a holder or a rate center may also hold of a thousands block of the exchange
/// that counts on the day of the search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Search {
    /// Each word begins a word of a company name, common name or rate center.
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
    fn company(&self, assignment: &Assignment) -> bool {
        match assignment.holder {
            Some(Holder::Carrier(place)) => self.carriers[place as usize],
            Some(Holder::Company(place)) => self.companies[place as usize],
            None => false,
        }
    }

    fn rate_center(&self, assignment: &Assignment) -> bool {
        assignment.rate_center.is_some_and(|place| self.rate_centers[place as usize])
    }
}

/// Who holds an exchange or a block of it, and where.
#[derive(Clone, Copy)]
struct Assignment {
    holder: Option<Holder>,
    rate_center: Option<u32>,
}

impl Assignment {
    fn of_exchange(row: &Row) -> Self {
        Self { holder: row.holder, rate_center: row.rate_center }
    }

    fn of_block(block: &Block) -> Self {
        Self { holder: Some(Holder::Carrier(block.carrier)), rate_center: block.rate_center }
    }

    fn is_held_by(&self, carriers: &[bool]) -> bool {
        matches!(self.holder, Some(Holder::Carrier(place)) if carriers[place as usize])
    }
}

/// The blocks that are left while exchanges are gone through in their order.
struct RemainingBlocks<'a>(&'a [Block]);

impl<'a> RemainingBlocks<'a> {
    /// The blocks of this exchange, which comes after every exchange asked for before.
    fn of(&mut self, row: &Row) -> &'a [Block] {
        let exchange = (row.npa, row.nxx);
        let earlier = self.0.iter().take_while(|block| block.exchange() < exchange).count();
        let (_, remaining) = self.0.split_at(earlier);
        let own = remaining.iter().take_while(|block| block.exchange() == exchange).count();
        let (own, later) = remaining.split_at(own);
        self.0 = later;
        own
    }
}

impl Dataset {
    /// The exchanges that `search` describes `today`, by NPA then NXX.
    pub fn search(
        &self,
        search: &Search,
        today: Date,
    ) -> impl Iterator<Item = LazyExchange<'_>> + use<'_> {
        let matches = self.compile(search);
        let rows = match search.npa {
            Some(npa) => self.rows_of(npa),
            None => &self.rows,
        };
        let mut blocks = RemainingBlocks(self.blocks_from(search.npa));
        let mut assignments = Vec::new();
        rows.iter()
            .filter(move |row| {
                let of_blocks =
                    blocks.of(row).iter().filter(|block| has_begun(block.effective, today));
                assignments.clear();
                assignments.push(Assignment::of_exchange(row));
                assignments.extend(of_blocks.map(Assignment::of_block));
                matches(row, &assignments)
            })
            .map(|row| LazyExchange { dataset: self, row })
    }

    /// The blocks of this area code and of all after it; every block without one.
    fn blocks_from(&self, npa: Option<Npa>) -> &[Block] {
        let start = npa.map_or(0, |npa| self.blocks.partition_point(|block| block.npa < npa));
        &self.blocks[start..]
    }

    /// Says of an exchange and its assignments (its own first) whether the search finds it.
    fn compile(&self, search: &Search) -> impl Fn(&Row, &[Assignment]) -> bool + use<> {
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

        let has_holder = move |assignment: &Assignment| {
            ocn.as_ref().is_none_or(|carriers| assignment.is_held_by(carriers))
                && carrier_type.as_ref().is_none_or(|carriers| assignment.is_held_by(carriers))
                && company.as_ref().is_none_or(|names| names.company(assignment))
        };
        let has_rate_center = move |assignment: &Assignment| {
            rate_center.as_ref().is_none_or(|names| names.rate_center(assignment))
        };
        let has_word = |word: &NameMatches, assignment: &Assignment| {
            word.company(assignment) || word.rate_center(assignment)
        };
        move |row: &Row, assignments: &[Assignment]| {
            nxx.is_none_or(|nxx| row.nxx == nxx)
                && status.is_none_or(|status| row.status == status)
                && country.is_none_or(|country| row.country == country)
                && state.is_none_or(|state| row.state == Some(state))
                && assignments.iter().any(&has_holder)
                && assignments.iter().any(&has_rate_center)
                && words.iter().all(|word| assignments.iter().any(|held| has_word(word, held)))
        }
    }

    fn names(&self, holds: impl Fn(&str) -> bool) -> NameMatches {
        let carrier = |carrier: &Carrier| {
            let names = [&carrier.company_name, &carrier.common_name];
            names.into_iter().flatten().any(|name| holds(name))
        };
        NameMatches {
            carriers: self.carriers.iter().map(carrier).collect(),
            companies: self.companies.iter().map(|name| holds(name)).collect(),
            rate_centers: self.rate_centers.iter().map(|name| holds(name)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dataset::tests::example,
        records::{BlockHolder, Exchange},
    };

    fn found_in(dataset: &Dataset, search: &Search, today: Date) -> Vec<String> {
        let found = dataset.search(search, today);
        found.map(|found| Exchange::from(found).npa_nxx().to_string()).collect()
    }

    fn found(search: Search) -> Vec<String> {
        found_in(&example(), &search, Date::constant(2026, 7, 1))
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

    /// The example, with a block of 415-300 that 6010 holds from July on, in a place of its own.
    fn pooled_example() -> Dataset {
        let holder = BlockHolder {
            ocn: "6010".parse().unwrap(),
            company_name: Some("NEW CINGULAR WIRELESS PCS, LLC".to_owned()),
            carrier_type: Some(CarrierType::Wireless),
            rate_center: Some("MILL VALLEY".to_owned()),
            effective: Some(Date::constant(2026, 7, 1)),
        };
        let example = example();
        let exchanges = example.exchanges().map(|mut exchange| {
            if exchange.nxx.to_string() == "300" {
                exchange.blocks.insert(4, holder.clone());
            }
            exchange
        });
        let exchanges = exchanges.collect();
        Dataset::new(example.carriers, example.area_codes, exchanges)
    }

    #[test]
    fn a_block_keeps_its_effective_date_and_rate_center_and_counts_from_that_day() {
        let exchange = pooled_example().exchange("415-300".parse().unwrap()).unwrap();
        let place_on =
            |day: Date| exchange.block_on(4, day).and_then(|holder| holder.rate_center.as_deref());
        assert_eq!(place_on(Date::constant(2026, 6, 30)), None);
        assert_eq!(place_on(Date::constant(2026, 7, 1)), Some("MILL VALLEY"));
        assert_eq!(exchange.block_on(5, Date::constant(2026, 7, 1)), None);
    }

    #[test]
    fn an_exchange_is_found_by_the_holder_and_place_of_a_block_that_counts() {
        let dataset = pooled_example();
        let on =
            |search: &Search, month: i8| found_in(&dataset, search, Date::constant(2026, month, 1));
        let cingular = Search { ocn: Some("6010".parse().unwrap()), ..Search::default() };
        assert_eq!(on(&cingular, 6), ["415-200"]);
        assert_eq!(on(&cingular, 7), ["415-200", "415-300"]);
        let of_npa = Search { npa: Some("415".parse().unwrap()), ..cingular.clone() };
        assert_eq!(on(&of_npa, 7), ["415-200", "415-300"]);
        let company = Search { company: Some("AT&T Mobility".to_owned()), ..Search::default() };
        assert_eq!(on(&company, 7), ["415-200", "415-300"]);
        let rate_center =
            Search { rate_center: Some("mill valley".to_owned()), ..Search::default() };
        assert_eq!((on(&rate_center, 6), on(&rate_center, 7)), (vec![], vec!["415-300".into()]));
        let words = Search { words: Some("mill cingular".parse().unwrap()), ..Search::default() };
        assert_eq!(on(&words, 7), ["415-300"]);
    }

    #[test]
    fn what_is_asked_of_a_holder_has_to_hold_of_one_holder() {
        let both = Search {
            ocn: Some("6010".parse().unwrap()),
            company: Some("Pacific Bell".to_owned()),
            ..Search::default()
        };
        assert_eq!(found_in(&pooled_example(), &both, Date::constant(2026, 7, 1)), [""; 0]);
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
