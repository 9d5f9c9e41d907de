use super::*;
use crate::{
    dataset::tests::{changed_example, example},
    records::AreaCode,
};

#[test]
fn difference_has_exactly_the_changed_records_and_can_be_undone() {
    let datasets = [example(), changed_example(), Dataset::default()];
    for (before, after) in datasets.iter().cartesian_product(&datasets) {
        let pairs = record_pairs(before, after).filter(|pair| pair.change().is_some());
        let changes: Vec<_> = pairs.collect();
        let difference = Difference::new(&changes);
        let packed = difference.pack().unwrap();
        assert!((0..packed.len()).all(|end| Difference::unpack(&packed[..end]).is_err()));
        let difference = Difference::unpack(&packed).unwrap();
        assert!(difference.changes().eq(changes.iter().cloned()));
        assert_eq!(difference.apply(before), *after);
        assert_eq!(difference.undo(after), *before);
        let keys = changes.iter().map(|pair| pair.key);
        assert!(difference.keys().iter().map(|(key, _)| key).eq(keys));
    }
}

#[test]
fn filters_match_records_before_and_after_a_change() {
    let state = |code: &str| code.parse::<StateCode>().unwrap();
    let records_in = |code| {
        let states = BTreeSet::from([state("AZ"), state(code)]);
        let state = Some(state(code));
        [
            Record::Exchange(Exchange { state, ..Exchange::sample("415-200") }),
            Record::AreaCode(AreaCode { states, ..AreaCode::sample("415") }),
            Record::Carrier(Carrier { state, ..Carrier::sample("6010") }),
        ]
    };
    for (before, after) in records_in("CA").into_iter().zip(records_in("NV")) {
        for (has_before, has_after) in [(true, true), (true, false), (false, true)] {
            let pair = RecordPair {
                key: before.key(),
                before: has_before.then(|| before.clone()),
                after: has_after.then(|| after.clone()),
            };
            let found = ["CA", "NV", "NY"].map(|code| pair.is_in_state(state(code)));
            assert_eq!(found, [has_before, has_after, false], "{pair:?}");
        }
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
