//! Search over the exchanges: by the beginnings of words, and by exact filters.
//!
//! The conditions become a few bits for each name and each kind of exchange. A search then visits
//! the area codes whose dictionaries can meet them, and combines the bits of each of their rows.

use jiff::civil::Date;

use super::{
    Dataset, Records,
    area_pass::AreaPass,
    requirements::{Requirements, candidates_for},
    row_set::RowSet,
    words::{WholeName, Word, Words},
};
use crate::records::{CarrierType, Country, Exchange, Npa, Nxx, Ocn, StateCode, Status};

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

impl Dataset {
    /// The exchanges that `search` finds `today`, ordered by NPA, then NXX.
    pub fn search(&self, search: &Search, today: Date) -> Records<'_, Exchange> {
        let mut words: Vec<&Word> = search.words.iter().flat_map(Words::iter).collect();
        let mut requirements = Requirements::none(&self.names);
        let kinds = self.require_kinds(search, &mut requirements);
        if let Some(holders) = self.holders(search) {
            requirements.require(&holders);
        }
        if let Some(wanted) = &search.rate_center {
            requirements.require(&self.rate_centers_named(wanted));
        }
        self.require_words(&mut words, &mut requirements);
        let pass = |requirements: &_, kinds: &_| {
            self.visit(search, AreaPass::new(self, requirements, kinds, today))
        };
        let mut found = pass(&requirements, &kinds);
        while !words.is_empty() && found.count() > 0 {
            let mut requirements = Requirements::none(&self.names);
            self.require_words(&mut words, &mut requirements);
            found.retain(&pass(&requirements, &Vec::new()));
        }
        Records::in_set(self, found, Self::exchange_at)
    }

    /// The rows that the pass finds in the area code and exchange code of the search.
    fn visit(&self, search: &Search, mut pass: AreaPass<'_>) -> RowSet {
        let mut found = RowSet::new(self.exchanges.count());
        let areas = match search.npa {
            Some(npa) => self.exchanges.area(npa).map_or(0..0, |area| area..area + 1),
            None => 0..self.exchanges.area_count(),
        };
        for area in areas {
            let rows = match search.nxx {
                Some(nxx) => self.exchanges.row(area, nxx).map_or(0..0, |row| row..row + 1),
                None => self.exchanges.rows_of(area),
            };
            if !rows.is_empty() {
                pass.visit(area, rows, &mut found);
            }
        }
        found
    }

    /// For each kind of exchange the bit of the requirement on kinds, if it meets that; nothing if
    /// the search has no condition on kinds.
    fn require_kinds(&self, search: &Search, requirements: &mut Requirements<'_>) -> Vec<u32> {
        let Search { state, country, status, .. } = search;
        if state.is_none() && country.is_none() && status.is_none() {
            return Vec::new();
        }
        let bit = requirements.require_other();
        let kinds = &self.exchanges.kinds;
        let is_wanted = |kind: usize| {
            country.is_none_or(|country| kinds.places.country(kind) == country)
                && (state.is_none() || kinds.places.state(kind, &self.states) == *state)
                && status.is_none_or(|status| kinds.status(kind) == status)
        };
        (0..kinds.count()).map(|kind| if is_wanted(kind) { bit } else { 0 }).collect()
    }

    /// Requires the last of these words, as many as there are bits for.
    fn require_words(&self, words: &mut Vec<&Word>, requirements: &mut Requirements<'_>) {
        while let Some(word) = words.pop_if(|word| requirements.have_room_for(word)) {
            requirements.require_word(word, |letters| self.names.words.names_with(letters));
        }
    }

    /// The numbers of the holders that meet all conditions on the holder; `None` if the search
    /// has no condition on holders.
    fn holders(&self, search: &Search) -> Option<Vec<u32>> {
        let Search { ocn, company, carrier_type, .. } = search;
        let all_carriers = || (1..=self.carriers.count() as u32).collect();
        let mut holders = match (ocn, company, carrier_type) {
            (None, None, None) => return None,
            (Some(ocn), ..) => {
                let carrier = self.carriers.position(*ocn);
                carrier.map(|position| position as u32 + 1).into_iter().collect()
            }
            (None, Some(company), _) => candidates_for(company, &self.names),
            (None, None, Some(_)) => all_carriers(),
        };
        holders.retain(|&holder| {
            company.as_ref().is_none_or(|company| self.is_holder_named(holder as usize, company))
                && (carrier_type.is_none() || self.type_of_holder(holder as usize) == *carrier_type)
        });
        Some(holders)
    }

    fn type_of_holder(&self, holder: usize) -> Option<CarrierType> {
        self.carriers.carrier_type(self.carrier_of_holder(holder)?)
    }

    fn is_holder_named(&self, number: usize, wanted: &WholeName) -> bool {
        let names = match self.carrier_of_holder(number) {
            Some(carrier) => {
                [self.carriers.company_name(carrier), self.carriers.common_name(carrier)]
            }
            None if number < self.names.holder_numbers() => {
                [self.company_name_of_holder(number), None]
            }
            None => [None, None],
        };
        names.into_iter().flatten().any(|name| wanted.is_name(name))
    }

    fn rate_centers_named(&self, wanted: &WholeName) -> Vec<u32> {
        let mut names = candidates_for(wanted, &self.names);
        names.retain(|&name| {
            let number = (name as usize).checked_sub(self.names.holder_numbers());
            let rate_center = number.and_then(|number| self.names.rate_centers.named(number));
            rate_center.is_some_and(|rate_center| wanted.is_name(rate_center))
        });
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dataset::tests::{example, pooled_example},
        records::CarrierType,
    };

    fn found_in(dataset: &Dataset, search: &Search, today: Date) -> Vec<String> {
        dataset.search(search, today).map(|found| found.npa_nxx().to_string()).collect()
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
