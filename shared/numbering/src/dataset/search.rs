//! Search over the exchanges: by the beginnings of words, and by exact filters.

use jiff::civil::Date;

use super::{
    Dataset, ExchangeRow, Holder, LazyExchange, ThousandsBlock,
    names::NameMatches,
    words::{WholeName, Word, Words},
};
use crate::records::{Carrier, CarrierType, Country, Npa, Nxx, Ocn, StateCode, Status, has_begun};

/// The conditions of a search; an exchange is found if it meets all that are given.
///
/// Conditions on the holder or the rate center may also be met by a thousands block of the exchange
/// whose assignment is effective on the day of the search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Search {
    /// Each word begins a word of a company name, common name or rate center.
    pub words: Option<Words>,
    pub npa: Option<Npa>,
    pub nxx: Option<Nxx>,
    pub ocn: Option<Ocn>,
    /// The whole company name or common name.
    pub company: Option<WholeName>,
    /// The whole rate center.
    pub rate_center: Option<WholeName>,
    pub state: Option<StateCode>,
    pub country: Option<Country>,
    pub carrier_type: Option<CarrierType>,
    pub status: Option<Status>,
}

/// Who holds an exchange or a block of it, and where.
#[derive(Clone, Copy)]
struct Assignment {
    holder: Option<Holder>,
    rate_center: Option<u32>,
}

impl Assignment {
    fn of_exchange(row: &ExchangeRow) -> Self {
        Self { holder: row.holder, rate_center: row.rate_center }
    }

    fn of_block(block: &ThousandsBlock) -> Self {
        Self { holder: Some(Holder::Carrier(block.carrier)), rate_center: block.rate_center }
    }

    fn is_held_by(&self, carriers: &[bool]) -> bool {
        matches!(self.holder, Some(Holder::Carrier(index)) if carriers[index as usize])
    }
}

/// The blocks of the exchanges that are still to come, while all exchanges are visited in order.
struct RemainingBlocks<'a>(&'a [ThousandsBlock]);

impl<'a> RemainingBlocks<'a> {
    /// The blocks of this exchange, which comes after all exchanges of earlier calls.
    fn take_for(&mut self, row: &ExchangeRow) -> &'a [ThousandsBlock] {
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
    /// The exchanges that `search` finds `today`, ordered by NPA, then NXX.
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
                let own_blocks = blocks.take_for(row).iter();
                let effective = own_blocks.filter(|block| has_begun(block.effective, today));
                assignments.clear();
                assignments.push(Assignment::of_exchange(row));
                assignments.extend(effective.map(Assignment::of_block));
                matches(row, &assignments)
            })
            .map(|row| LazyExchange { dataset: self, row })
    }

    /// The blocks of this area code and of all after it, or every block if `npa` is `None`.
    fn blocks_from(&self, npa: Option<Npa>) -> &[ThousandsBlock] {
        let start = npa.map_or(0, |npa| self.blocks.partition_point(|block| block.npa < npa));
        &self.blocks[start..]
    }

    /// A closure that tells of an exchange and its assignments whether the search finds it.
    fn compile(&self, search: &Search) -> impl Fn(&ExchangeRow, &[Assignment]) -> bool + use<> {
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
        let names_with = |word: &str| self.match_names(|name| name.has_word_starting_with(word));
        let words: Vec<Word<NameMatches>> =
            words.iter().flat_map(Words::iter).map(|word| word.map(names_with)).collect();
        let names_equal_to = |wanted: &WholeName| self.match_names(|name| wanted.is_name(name));
        let companies = company.as_ref().map(names_equal_to);
        let rate_centers = rate_center.as_ref().map(names_equal_to);
        let carriers_where = |is_wanted: &dyn Fn(&Carrier) -> bool| -> Vec<bool> {
            self.carriers.iter().map(is_wanted).collect()
        };
        let with_ocn = ocn.map(|ocn| carriers_where(&|carrier| carrier.ocn == ocn));
        let with_type = carrier_type
            .map(|wanted| carriers_where(&|carrier| carrier.carrier_type == Some(wanted)));

        let has_holder = move |assignment: &Assignment| {
            with_ocn.as_ref().is_none_or(|carriers| assignment.is_held_by(carriers))
                && with_type.as_ref().is_none_or(|carriers| assignment.is_held_by(carriers))
                && companies.as_ref().is_none_or(|names| names.matches_holder(assignment.holder))
        };
        let has_rate_center = move |assignment: &Assignment| {
            rate_centers
                .as_ref()
                .is_none_or(|names| names.matches_rate_center(assignment.rate_center))
        };
        let has_name = |names: &NameMatches, assignment: &Assignment| {
            names.matches_holder(assignment.holder)
                || names.matches_rate_center(assignment.rate_center)
        };
        move |row: &ExchangeRow, assignments: &[Assignment]| {
            nxx.is_none_or(|nxx| row.nxx == nxx)
                && status.is_none_or(|status| row.status == status)
                && country.is_none_or(|country| row.country == country)
                && state.is_none_or(|state| row.state == Some(state))
                && assignments.iter().any(&has_holder)
                && assignments.iter().any(&has_rate_center)
                && words.iter().all(|word| {
                    word.is_found(|names| assignments.iter().any(|own| has_name(names, own)))
                })
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
        let company =
            |name: &str| Search { company: Some(name.parse().unwrap()), ..Search::default() };
        assert_eq!(found(company("at&t mobility")), ["415-200"]);
        assert_eq!(found(company("AT&T Corp.")), ["415-555"]);
        assert_eq!(found(company("att corp")), ["415-555"]);
        assert_eq!(found(company("AT&T")), [""; 0]);
        let rate_center =
            Search { rate_center: Some("snfc cntrl".parse().unwrap()), ..Search::default() };
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

    /// The example with a thousands block of 415-300 that carrier 6010 holds from July on, in a
    /// rate center of its own.
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
    fn a_block_has_its_holder_and_rate_center_from_its_effective_date_on() {
        let exchange = pooled_example().exchange("415-300".parse().unwrap()).unwrap();
        let rate_center_on =
            |day: Date| exchange.block_on(4, day).and_then(|holder| holder.rate_center.as_deref());
        assert_eq!(rate_center_on(Date::constant(2026, 6, 30)), None);
        assert_eq!(rate_center_on(Date::constant(2026, 7, 1)), Some("MILL VALLEY"));
        assert_eq!(exchange.block_on(5, Date::constant(2026, 7, 1)), None);
    }

    #[test]
    fn an_exchange_is_found_by_the_holder_and_rate_center_of_an_effective_block() {
        let dataset = pooled_example();
        let found_in_month =
            |search: &Search, month: i8| found_in(&dataset, search, Date::constant(2026, month, 1));
        let cingular = Search { ocn: Some("6010".parse().unwrap()), ..Search::default() };
        assert_eq!(found_in_month(&cingular, 6), ["415-200"]);
        assert_eq!(found_in_month(&cingular, 7), ["415-200", "415-300"]);
        let of_npa = Search { npa: Some("415".parse().unwrap()), ..cingular.clone() };
        assert_eq!(found_in_month(&of_npa, 7), ["415-200", "415-300"]);
        let company =
            Search { company: Some("AT&T Mobility".parse().unwrap()), ..Search::default() };
        assert_eq!(found_in_month(&company, 7), ["415-200", "415-300"]);
        let rate_center =
            Search { rate_center: Some("mill valley".parse().unwrap()), ..Search::default() };
        assert_eq!(
            (found_in_month(&rate_center, 6), found_in_month(&rate_center, 7)),
            (vec![], vec!["415-300".into()])
        );
        let words = Search { words: Some("mill cingular".parse().unwrap()), ..Search::default() };
        assert_eq!(found_in_month(&words, 7), ["415-300"]);
    }

    #[test]
    fn all_conditions_on_the_holder_must_be_met_by_one_holder() {
        let both = Search {
            ocn: Some("6010".parse().unwrap()),
            company: Some("Pacific Bell".parse().unwrap()),
            ..Search::default()
        };
        assert_eq!(found_in(&pooled_example(), &both, Date::constant(2026, 7, 1)), [""; 0]);
    }
}
