//! The columns of carriers.

use bytes::Bytes;

use super::{
    columns::{ANY, Lists, Numbers, SectionWriter, Sections, Texts, damaged},
    packed::DamagedSnapshot,
    places::{Places, States},
};
use crate::records::{Carrier, CarrierType, Ocn, OwnedExchanges, StateCode};

/// All carriers, ordered by OCN.
#[derive(Debug)]
pub(super) struct Carriers {
    ocns: Bytes,
    /// Every company name and common name, in order.
    names: Texts,
    /// Positions in `names` plus one; zero for no name.
    company_names: Numbers,
    common_names: Numbers,
    /// Positions in [`CarrierType::ALL`] plus one; zero for no type.
    types: Numbers,
    places: Places,
    exchange_totals: Numbers,
    /// For each carrier the states in which it has exchanges, with the count in each.
    exchange_counts: Lists,
    counted_states: Numbers,
    counts: Numbers,
}

impl Carriers {
    pub(super) fn read(sections: &mut Sections, states: &States) -> Result<Self, DamagedSnapshot> {
        const OCNS: &str = "column of OCNs";
        const COUNTS: &str = "exchange counts of carriers";
        let names = sections.texts("list of carrier names")?;
        let count = sections.count(OCNS)?;
        let ocns = sections.items::<4>(OCNS, count)?;
        let (codes, _) = ocns.as_chunks();
        let are_codes = codes.iter().all(|&characters| Ocn::of_characters(characters).is_some());
        if !are_codes || !codes.is_sorted_by(|one, next| one < next) {
            return Err(damaged(OCNS));
        }
        let company_names = sections.numbers("company names", count, names.count() + 1)?;
        let common_names = sections.numbers("common names", count, names.count() + 1)?;
        let types = sections.numbers("carrier types", count, CarrierType::ALL.len() + 1)?;
        let places = Places::read(sections, count, states)?;
        let exchange_totals = sections.numbers(COUNTS, count, ANY)?;
        let exchange_counts = sections.lists(COUNTS, count)?;
        let items = exchange_counts.item_count();
        let counted_states = sections.numbers(COUNTS, items, states.count())?;
        let counts = sections.numbers(COUNTS, items, ANY)?;
        Ok(Self {
            ocns,
            names,
            company_names,
            common_names,
            types,
            places,
            exchange_totals,
            exchange_counts,
            counted_states,
            counts,
        })
    }

    pub(super) fn count(&self) -> usize {
        self.ocns.len() / 4
    }

    fn codes(&self) -> &[[u8; 4]] {
        self.ocns.as_chunks().0
    }

    pub(super) fn position(&self, ocn: Ocn) -> Option<usize> {
        self.codes().binary_search(&ocn.characters()).ok()
    }

    /// The positions of the carriers whose OCNs begin with these characters in upper case.
    pub(super) fn with_ocn_prefix(&self, prefix: &[u8]) -> std::ops::Range<usize> {
        let start = self.codes().partition_point(|ocn| ocn.as_slice() < prefix);
        let own = self.codes()[start..].partition_point(|ocn| ocn.starts_with(prefix));
        start..start + own
    }

    pub(super) fn ocn(&self, position: usize) -> Ocn {
        Ocn::of_characters(self.codes()[position]).expect("`Carriers::read` has checked every OCN")
    }

    pub(super) fn company_name(&self, position: usize) -> Option<&str> {
        self.names.named(self.company_names.get(position))
    }

    pub(super) fn common_name(&self, position: usize) -> Option<&str> {
        self.names.named(self.common_names.get(position))
    }

    pub(super) fn carrier_type(&self, position: usize) -> Option<CarrierType> {
        self.types.get(position).checked_sub(1).map(|number| CarrierType::ALL[number])
    }

    /// How many exchanges the carrier holds.
    pub(super) fn exchange_total(&self, position: usize) -> u32 {
        self.exchange_totals.get(position) as u32
    }

    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    pub(super) fn record(&self, position: usize, states: &States) -> Carrier {
        let counts = self.exchange_counts.range(position).filter_map(|item| {
            let state = states.get(self.counted_states.get(item))?;
            Some((state, self.counts.get(item) as u32))
        });
        Carrier {
            ocn: self.ocn(position),
            company_name: self.company_name(position).map(str::to_owned),
            common_name: self.common_name(position).map(str::to_owned),
            carrier_type: self.carrier_type(position),
            state: self.places.state(position, states),
            country: self.places.country(position),
            exchanges: OwnedExchanges {
                total: self.exchange_total(position),
                by_state: counts.collect(),
            },
        }
    }

    /// Writes carriers that are ordered by OCN.
    pub(super) fn write(carriers: &[Carrier], states: &[StateCode], writer: &mut SectionWriter) {
        let names = |carrier: &Carrier| [carrier.company_name.clone(), carrier.common_name.clone()];
        let mut texts: Vec<String> = carriers.iter().flat_map(names).flatten().collect();
        texts.sort();
        texts.dedup();
        let number_of = |name: &Option<String>| {
            name.as_ref().map_or(0, |name| texts.partition_point(|text| text <= name) as u32)
        };
        let column =
            |value: &dyn Fn(&Carrier) -> u32| -> Vec<u32> { carriers.iter().map(value).collect() };
        writer.texts(texts.iter().map(String::as_str));
        writer.count(carriers.len());
        carriers.iter().for_each(|carrier| writer.bytes(&carrier.ocn.characters()));
        writer.numbers(&column(&|carrier| number_of(&carrier.company_name)));
        writer.numbers(&column(&|carrier| number_of(&carrier.common_name)));
        writer.numbers(&column(&|carrier| carrier.carrier_type.map_or(0, |it| it as u32 + 1)));
        let places = carriers.iter().map(|carrier| (carrier.country, carrier.state));
        Places::write(places, states, writer);
        writer.numbers(&column(&|carrier| carrier.exchanges.total));
        writer.lists(carriers.iter().map(|carrier| carrier.exchanges.by_state.len()));
        let counted = carriers.iter().flat_map(|carrier| &carrier.exchanges.by_state);
        let counted_states: Vec<u32> = counted
            .clone()
            .map(|(state, _)| states.partition_point(|other| other < state) as u32)
            .collect();
        writer.numbers(&counted_states);
        writer.numbers(&counted.map(|(_, &count)| count).collect::<Vec<_>>());
    }
}
