use super::*;
use crate::dataset::tests::example;

/// The example with a renamed carrier, an exchange that moved to another holder, and one that was removed.
fn changed_example() -> Dataset {
    let dataset = example();
    let mut carriers: Vec<_> = dataset.carriers().collect();
    carriers[0].company_name = Some("RENAMED".to_owned());
    let mut exchanges: Vec<_> = dataset.exchanges().collect();
    exchanges.remove(1);
    assert_ne!(exchanges[0].ocn, Some(carriers[0].ocn));
    exchanges[0].ocn = Some(carriers[0].ocn);
    exchanges[0].blocks.clear();
    Dataset::new(carriers, dataset.area_codes().collect(), exchanges)
}

fn keys(before: &Dataset, after: &Dataset) -> Vec<RecordKey> {
    let pairs = record_pairs(before, after);
    pairs.filter(|pair| pair.change().is_some()).map(|pair| pair.key).collect()
}

#[test]
fn a_difference_has_exactly_the_changed_records_and_leads_both_ways() {
    let datasets = [example(), changed_example(), Dataset::default()];
    for (before, after) in datasets.iter().cartesian_product(&datasets) {
        let keys = keys(before, after);
        let difference = Difference::new(before, after, &keys);
        let difference = Difference::unpack(&difference.pack().unwrap()).unwrap();
        let expected = record_pairs(before, after).filter(|pair| pair.change().is_some());
        assert!(difference.changes().eq(expected));
        assert_eq!(difference.apply(before), *after);
        assert_eq!(difference.undo(after), *before);
        let changes: Vec<_> = difference.changes().collect();
        let rebuilt = Difference::from_changes(&changes);
        assert!(rebuilt.changes().eq(changes));
        assert!(rebuilt.keys().iter().map(|(key, _)| key).eq(keys));
    }
}

#[test]
fn incomplete_differences_are_rejected() {
    let (before, after) = (example(), changed_example());
    let difference = Difference::new(&before, &after, &keys(&before, &after));
    let bytes = difference.pack().unwrap();
    for end in 0..bytes.len() {
        assert!(Difference::unpack(&bytes[..end]).is_err(), "{end}");
    }
}

#[test]
fn filters_match_the_earlier_and_later_state_of_every_kind_of_record() {
    let state = |code: &str| code.parse::<StateCode>().unwrap();
    let example = example();
    let mut exchange = example.exchange("415-200".parse().unwrap()).unwrap();
    let mut area_code = example.area_code("415".parse().unwrap()).unwrap();
    let mut carrier = example.carrier("6010".parse().unwrap()).unwrap();
    let records_in = |code| {
        exchange.state = Some(state(code));
        area_code.states = BTreeSet::from([state("AZ"), state(code)]);
        carrier.state = Some(state(code));
        let (exchange, area_code) = (exchange.clone(), area_code.clone());
        [Record::Exchange(exchange), Record::AreaCode(area_code), Record::Carrier(carrier.clone())]
    };
    let [before, after] = ["CA", "NV"].map(records_in);
    for (before, after) in before.into_iter().zip(after) {
        let pair = |before: Option<&Record>, after: Option<&Record>| RecordPair {
            key: before.or(after).unwrap().key(),
            before: before.cloned(),
            after: after.cloned(),
        };
        let [changed, removed, added] =
            [(true, true), (true, false), (false, true)].map(|(has_before, has_after)| {
                pair(Some(&before).filter(|_| has_before), Some(&after).filter(|_| has_after))
            });
        let states =
            |pair: &RecordPair| ["CA", "NV", "NY"].map(state).map(|state| pair.is_in_state(state));
        assert_eq!(states(&changed), [true, true, false], "{changed:?}");
        assert_eq!(states(&removed), [true, false, false], "{removed:?}");
        assert_eq!(states(&added), [false, true, false], "{added:?}");
    }
}

#[test]
fn filters_match_the_holders_of_an_exchange_and_its_blocks_and_the_carrier_itself() {
    let example = example();
    let ocns = ["0051", "6010", "9999"].map(|ocn| ocn.parse::<Ocn>().unwrap());
    for (key, expected) in [
        // Held by 0051, with a block of 6010.
        (RecordKey::Exchange("415-300".parse().unwrap()), [true, true, false]),
        (RecordKey::Exchange("415-200".parse().unwrap()), [false, true, false]),
        (RecordKey::Carrier(ocns[0]), [true, false, false]),
        (RecordKey::AreaCode("415".parse().unwrap()), [false; 3]),
    ] {
        let record = example.record(key);
        let removed = RecordPair { key, before: record.clone(), after: None };
        let added = RecordPair { key, before: None, after: record };
        for pair in [removed, added] {
            assert_eq!(ocns.map(|ocn| pair.concerns_carrier(ocn)), expected, "{pair:?}");
        }
    }
}
