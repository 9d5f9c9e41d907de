//! Carrier search by words and fields.

use std::cmp::Reverse;

use utoipa::IntoParams;

use super::{
    Dataset, Records,
    record_list::Positions,
    words::{NameMatch, Words},
};
use crate::records::{Carrier, CarrierType, Country, StateCode};

/// The criteria for a carrier search. A carrier must meet all of them.
#[derive(Debug, Clone, Default, PartialEq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CarrierSearch {
    /// Search words. Each must be the start of a word in the company name or common name, or of the OCN. Case, accents
    /// and punctuation within a word are ignored: `tmobile` and `t-mobile` both find `T-Mobile`.
    #[param(rename = "q", value_type = Option<String>)]
    pub words: Option<Words>,
    /// Country, US or CA.
    pub country: Option<Country>,
    /// State or province code.
    pub state: Option<StateCode>,
    /// Carrier type.
    #[param(rename = "type")]
    pub carrier_type: Option<CarrierType>,
}

impl Dataset {
    /// The carriers that match `search`: best name match first if it has words, otherwise by OCN.
    pub fn carriers_matching(&self, search: &CarrierSearch) -> Records<'_, Carrier> {
        if *search == CarrierSearch::default() {
            return self.carriers();
        }
        let mut matches = vec![true; self.carriers.count()];
        for word in search.words.iter().flat_map(|query| &query.words) {
            let joined = self.carriers_with_prefix(&word.joined);
            let parts: Vec<_> =
                word.parts.iter().map(|part| self.carriers_with_prefix(part)).collect();
            for (carrier, matches) in matches.iter_mut().enumerate() {
                let has_parts = !parts.is_empty() && parts.iter().all(|have| have[carrier]);
                *matches &= joined[carrier] || has_parts;
            }
        }
        let is_match = |&carrier: &usize| matches[carrier] && self.matches_fields(carrier, search);
        let mut found: Vec<usize> = (0..self.carriers.count()).filter(is_match).collect();
        if let Some(words) = &search.words {
            // Ties stay in OCN order.
            found.sort_by_cached_key(|&carrier| self.rank(carrier, words));
        }
        Records::new(self, Positions::List(found.into_iter()), |dataset, position| {
            dataset.carriers.record(position)
        })
    }

    /// The sort key of a carrier that matches all words, best first: the closest name match, then the most exchanges.
    fn rank(&self, carrier: usize, words: &Words) -> (NameMatch, Reverse<u32>) {
        let names = [self.carriers.company_name(carrier), self.carriers.common_name(carrier)];
        let best = names.into_iter().flatten().map(|name| words.name.match_with(name)).min();
        (best.unwrap_or(NameMatch::None), Reverse(self.carriers.exchange_total(carrier)))
    }

    /// Returns one flag per carrier: `true` if a word in its names or its OCN starts with these folded letters.
    fn carriers_with_prefix(&self, letters: &str) -> Vec<bool> {
        let ocn_prefix = letters.to_ascii_uppercase();
        let has_ocn = |carrier| self.carriers.ocn(carrier).to_string().starts_with(&ocn_prefix);
        let mut has_prefix: Vec<bool> = (0..self.carriers.count()).map(has_ocn).collect();
        for name in self.names.with_prefix(letters) {
            let carrier = self.holder_carrier(name as usize);
            carrier.into_iter().for_each(|carrier| has_prefix[carrier] = true);
        }
        has_prefix
    }

    /// Returns `true` if the carrier meets the criteria for single fields.
    fn matches_fields(&self, carrier: usize, search: &CarrierSearch) -> bool {
        let CarrierSearch { words: _, country, state, carrier_type } = search;
        country.is_none_or(|country| self.carriers.country(carrier) == country)
            && (state.is_none() || self.carriers.state(carrier) == *state)
            && (carrier_type.is_none() || self.carriers.carrier_type(carrier) == *carrier_type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::OwnedExchanges;

    fn find(carriers: Vec<Carrier>, query: &str) -> Vec<String> {
        let dataset = Dataset::new(carriers, Vec::new(), Vec::new());
        let search = CarrierSearch { words: query.parse().ok(), ..CarrierSearch::default() };
        dataset.carriers_matching(&search).map(|carrier| carrier.ocn.to_string()).collect()
    }

    #[test]
    fn carriers_match_by_word_and_ocn_prefixes() {
        for line in include_str!("carrier_names.txt").lines().skip(1) {
            let [name, found, not_found] = line.split(" | ").collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let carrier = Carrier {
                company_name: Some(name.to_owned()),
                common_name: Some("Common Name".to_owned()),
                ..Carrier::sample("073H")
            };
            for (queries, expected) in [(found, &["073H"][..]), (not_found, &[])] {
                for query in queries.split("; ").filter(|query| *query != "-") {
                    assert_eq!(find(vec![carrier.clone()], query), expected, "{name}: {query}");
                }
            }
        }
    }

    #[test]
    fn whole_names_rank_before_prefixes_and_exchange_counts_break_ties() {
        let carriers = [
            ("0001", "ALASCOM DBA AT&T ALASKA", None, 900),
            ("0002", "AT&T CORP.", None, 5),
            ("0003", "AT&T LOCAL", None, 7),
            ("0004", "AT & T", None, 1),
            ("0005", "NEW CINGULAR", Some("AT&T"), 800),
            ("0006", "ATT ENTERPRISES", None, 7),
            ("0007", "THE AT&T", None, 900),
            ("0008", "ATLANTIC TEL", None, 999),
            ("0009", "AT&T DORMANT", None, 0),
        ];
        let carriers = carriers.map(|(ocn, name, common_name, total)| Carrier {
            company_name: Some(name.to_owned()),
            common_name: common_name.map(str::to_owned),
            exchanges: OwnedExchanges { total, ..OwnedExchanges::default() },
            ..Carrier::sample(ocn)
        });
        let by_rank = ["0005", "0004", "0003", "0006", "0002", "0009", "0008", "0001", "0007"];
        for (query, expected) in
            [("AT&T", &by_rank[..]), ("at-t", &by_rank), ("local at&t", &["0003"])]
        {
            assert_eq!(find(carriers.to_vec(), query), expected, "{query}");
        }
    }
}
