//! Compares the dataset's search with a naive scan of every exchange.

// Tests may panic.
#![allow(clippy::unwrap_used)]

mod plain_search;

use std::{collections::BTreeMap, fmt::Debug, str::FromStr};

use jiff::civil::Date;
use numbering::{
    dataset::{Dataset, Search},
    records::{AreaCode, BlockHolder, Carrier, CarrierType, Country, Exchange, Status},
};
use plain_search::{NameFilters, PlainSearch};
use proptest::{collection::vec, option, prelude::*, sample::select};

const OCNS: [&str; 4] = ["0051", "073H", "6010", "9999"];
const NPAS: [&str; 3] = ["212", "415", "514"];
const STATES: [&str; 2] = ["CA", "QC"];
const TYPES: [CarrierType; 2] = [CarrierType::Wireless, CarrierType::Ilec];

/// Names from a small alphabet, so that many share words, with accents and various separators.
fn name() -> impl Strategy<Value = String> {
    "[abéœÉ&'. -]{0,8}"
}

fn date() -> impl Strategy<Value = Date> {
    (1i8..=12).prop_map(|month| Date::new(2026, month, 1).unwrap())
}

fn carriers() -> impl Strategy<Value = Vec<Carrier>> {
    let carrier = |ocn: &'static str| {
        let names = (option::of(name()), option::of(name()), option::of(select(&TYPES[..])));
        names.prop_map(move |(company_name, common_name, carrier_type)| Carrier {
            company_name,
            common_name,
            carrier_type,
            ..Carrier::sample(ocn)
        })
    };
    // The last OCN has no carrier.
    OCNS[..3].iter().map(|&ocn| carrier(ocn)).collect::<Vec<_>>()
}

fn block() -> impl Strategy<Value = BlockHolder> {
    (select(&OCNS[..]), option::of(name()), option::of(date())).prop_map(
        |(ocn, rate_center, effective)| BlockHolder {
            rate_center,
            effective,
            ..BlockHolder::sample(ocn)
        },
    )
}

fn exchange() -> impl Strategy<Value = Exchange> {
    let code = (select(&NPAS[..]), 200u16..208);
    let holder = (option::of(select(&OCNS[..])), option::of(name()), option::of(name()));
    let place =
        (option::of(select(&STATES[..])), select(&Country::ALL[..]), select(&Status::ALL[..]));
    let blocks = prop_oneof![
        3 => Just(BTreeMap::new()),
        1 => proptest::collection::btree_map(0u8..10, block(), 0..4),
    ];
    (code, holder, place, blocks).prop_map(
        |((npa, nxx), (ocn, company_name, rate_center), (state, country, status), blocks)| {
            Exchange {
                ocn: parse(ocn),
                company_name,
                rate_center,
                state: parse(state),
                country,
                status,
                blocks,
                ..Exchange::sample(&format!("{npa}-{nxx}"))
            }
        },
    )
}

/// A client's query, with at least one letter; usually `None`.
fn text(pattern: &'static str) -> impl Strategy<Value = Option<String>> {
    let has_letters = |text: &String| text.contains(|letter: char| letter.is_alphanumeric());
    option::weighted(0.3, pattern.prop_filter("a query needs a letter", has_letters))
}

fn search() -> impl Strategy<Value = (Search, NameFilters)> {
    let code = |values: &'static [&'static str]| option::weighted(0.15, select(values));
    let names = (text("[abéœ&'. -]{1,6}"), text("[abéœ&'. -]{1,8}"), text("[abéœ&'. -]{1,8}"));
    let codes = (code(&NPAS), code(&["203", "207", "999"]), code(&OCNS), code(&STATES));
    let kinds = (
        option::weighted(0.15, select(&Country::ALL[..])),
        option::weighted(0.2, select(&TYPES[..])),
        option::weighted(0.2, select(&Status::ALL[..])),
    );
    (names, codes, kinds).prop_map(|(names, codes, (country, carrier_type, status))| {
        let (words, company, rate_center) = names;
        let (npa, nxx, ocn, state) = codes;
        let search = Search {
            words: parse(words.as_deref()),
            npa: parse(npa),
            nxx: parse(nxx),
            ocn: parse(ocn),
            company: parse(company.as_deref()),
            rate_center: parse(rate_center.as_deref()),
            state: parse(state),
            country,
            carrier_type,
            status,
        };
        (search, NameFilters { words, company, rate_center })
    })
}

fn parse<T: FromStr<Err: Debug>>(text: Option<&str>) -> Option<T> {
    text.map(|text| text.parse().unwrap())
}

fn assert_matches_plain_search(
    dataset: &Dataset,
    searches: &[(Search, NameFilters)],
    today: Date,
    (offset, limit): (usize, usize),
) -> Result<(), TestCaseError> {
    let plain = PlainSearch::new(dataset);
    for (search, filters) in searches {
        let found = dataset.search(search, today);
        let expected = plain.find(search, filters, today);
        prop_assert_eq!(found.len(), expected.len(), "{:?}", search);
        let page: Vec<Exchange> = found.clone().skip(offset).take(limit).collect();
        prop_assert!(page.iter().eq(expected.iter().copied().skip(offset).take(limit)));
        let all: Vec<Exchange> = found.collect();
        prop_assert!(all.iter().eq(expected), "{:?}", search);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn search_matches_a_plain_scan(
        carriers in carriers(),
        exchanges in vec(exchange(), 0..60),
        searches in vec(search(), 20),
        today in date(),
        page in (0usize..30, 1usize..20),
    ) {
        let dataset = Dataset::new(carriers, Vec::<AreaCode>::new(), exchanges);
        assert_matches_plain_search(&dataset, &searches, today, page)?;
    }
}

/// Has more rows, holders and rate centers per area code than a word has bits or a byte has values.
#[test]
fn search_matches_in_large_area_codes() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};

    let mut runner = TestRunner::deterministic();
    let mut carriers = carriers().new_tree(&mut runner).unwrap().current();
    carriers.push(Carrier { ocn: "9998".parse().unwrap(), ..carriers[0].clone() });
    for many_names in [false, true] {
        let exchanges = (200..900).map(|nxx: u16| {
            let mut exchange = exchange().new_tree(&mut runner).unwrap().current();
            exchange.npa = NPAS[usize::from(nxx % 2)].parse().unwrap();
            exchange.nxx = nxx.to_string().parse().unwrap();
            if many_names {
                exchange.rate_center = Some(format!("a{nxx} b"));
                exchange.company_name = Some(format!("é{nxx}"));
            }
            exchange
        });
        let dataset = Dataset::new(carriers.clone(), Vec::new(), exchanges.collect());
        let searches = vec(search(), 200).new_tree(&mut runner).unwrap().current();
        let today = Date::constant(2026, 6, 1);
        assert_matches_plain_search(&dataset, &searches, today, (70, 100)).unwrap();
    }
}
