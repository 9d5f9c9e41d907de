use proptest::prelude::*;

use super::*;

fn facts(range_use: RangeUse, holder: &str) -> RangeFacts {
    RangeFacts {
        range_use,
        status: (range_use != RangeUse::Assigned).then(|| format!("{range_use} word")),
        holder: (!holder.is_empty()).then(|| holder.to_owned()),
        effective_from: holder.ends_with(" d").then_some(Date::constant(1969, 12, 31)),
        place: holder.ends_with(" p").then(|| "Málaga".to_owned()),
    }
}

fn range(from: &str, to: &str, facts: RangeFacts) -> Range {
    Range { from: from.parse().unwrap(), to: to.parse().unwrap(), facts }
}

/// Ranges of six-digit numbers without overlaps: a holder for each block of ten, or none.
fn blocks() -> impl Strategy<Value = Vec<Range>> {
    let holder = prop_oneof![Just(""), Just("a"), Just("A"), Just("b d"), Just("c p")];
    let range_use = prop_oneof![Just(RangeUse::Assigned), Just(RangeUse::Reserved)];
    let block = proptest::option::of((range_use, holder));
    proptest::collection::vec(block, 1..40).prop_map(|blocks| {
        let blocks = blocks.into_iter().enumerate().filter_map(|(index, block)| {
            let (range_use, holder) = block?;
            let digits = |last| format!("{:05}{last}", index + 7);
            Some(range(&digits(0), &digits(9), facts(range_use, holder)))
        });
        blocks.collect()
    })
}

proptest! {
    #[test]
    fn joining_and_packing_preserve_the_facts_about_every_number(blocks in blocks()) {
        let ranges = CountryRanges::new(vec!["0".to_owned()], blocks.clone());
        prop_assert_eq!(&CountryRanges::unpack(&ranges.pack().unwrap()).unwrap(), &ranges);
        for value in 0..600 {
            let number: NationalNumber = format!("{value:06}").parse().unwrap();
            let published = blocks.iter().find(|block| block.from <= number && number <= block.to);
            let found = ranges.find(number);
            let lowercase = |facts: &RangeFacts| {
                let holder = facts.holder.as_ref().map(|holder| holder.to_lowercase());
                RangeFacts { holder, ..facts.clone() }
            };
            prop_assert_eq!(
                found.map(|range| lowercase(range.facts)),
                published.map(|block| lowercase(&block.facts))
            );
        }
        let neighbors: Vec<_> = ranges.iter().collect();
        for pair in neighbors.windows(2) {
            prop_assert!(pair[0].to.next() != Some(pair[1].from) || pair[0].facts != pair[1].facts);
        }
    }
}

fn example() -> CountryRanges {
    let vodafone = || facts(RangeUse::Assigned, "Vodafone Ltd");
    let ranges = vec![
        range("7400", "7409", facts(RangeUse::Unassigned, "")),
        range("7000", "7009", facts(RangeUse::Assigned, "VODAFONE LTD")),
        range("7010", "7019", vodafone()),
        range("7020", "7029", vodafone()),
        range("7100", "7399", facts(RangeUse::Assigned, "BT")),
        range("70000", "70000", facts(RangeUse::Reserved, "")),
    ];
    CountryRanges::new(vec!["7".to_owned(), "7".to_owned()], ranges)
}

#[test]
fn holders_that_differ_in_case_are_one_with_the_most_frequent_spelling() {
    let holders = example().holders();
    let holders: Vec<_> = holders.iter().map(|it| (&*it.holder, it.ranges, it.numbers)).collect();
    assert_eq!(holders, [("BT", 1, 300), ("Vodafone Ltd", 1, 30)]);
}

#[test]
fn ranges_match_only_numbers_of_the_same_length() {
    let ranges = example();
    let find = |number: &str| ranges.find(number.parse().unwrap()).map(|it| it.facts.range_use);
    assert_eq!(find("7000"), Some(RangeUse::Assigned));
    assert_eq!(find("70000"), Some(RangeUse::Reserved));
    assert_eq!((find("700"), find("70001"), find("6999"), find("7410")), (None, None, None, None));
    assert!(ranges.covers("71") && !ranges.covers("17"));
}

#[test]
fn filters_select_by_holder_status_and_prefix() {
    let ranges = example();
    let found = |holder: &str, status: &str, prefix: &str| {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let holder = text(holder).map(|holder| holder.parse().unwrap());
        let status = text(status).map(|status| ranges.parse_status(&status).unwrap());
        let search = RangeSearch { holder, status, prefix: text(prefix) };
        let found = ranges.matching(&search);
        found.iter().map(|range| format!("{}-{}", range.from, range.to)).collect::<Vec<_>>()
    };
    let all = ["7000-7029", "7100-7399", "7400-7409", "70000-70000"];
    assert_eq!(found("", "", ""), all);
    assert_eq!(found("vodafone ltd", "", ""), all[..1]);
    assert_eq!(found("vodafone", "", ""), [] as [&str; 0]);
    assert_eq!(found("", "assigned", ""), all[..2]);
    assert_eq!(found("", "unassigned WORD", ""), all[2..3]);
    assert_eq!(found("", "", "70"), [all[0], all[3]]);
    assert_eq!(found("", "", "7129"), all[1..2]);
    assert_eq!(found("", "", "74"), all[2..3]);
    assert_eq!(found("bt", "RESERVED", ""), [] as [&str; 0]);
    let possible = "must be one of ASSIGNED, UNASSIGNED, RESERVED, RESERVED word, UNASSIGNED word";
    assert_eq!(ranges.parse_status("free"), Err(possible.to_owned()));
}

#[test]
fn a_published_word_takes_precedence_over_a_use_except_in_upper_case() {
    let reserved =
        RangeFacts { status: Some("Reserved".to_owned()), ..facts(RangeUse::Reserved, "") };
    let ranges = CountryRanges::new(Vec::new(), vec![range("10", "19", reserved)]);
    for (text, expected) in [
        ("RESERVED", StatusFilter::Use(RangeUse::Reserved)),
        ("Reserved", StatusFilter::Word("Reserved".to_owned())),
        ("reserved", StatusFilter::Word("reserved".to_owned())),
        ("assigned", StatusFilter::Use(RangeUse::Assigned)),
    ] {
        assert_eq!(ranges.parse_status(text), Ok(expected), "{text}");
    }
}

#[test]
fn damaged_ranges_are_rejected() {
    let bytes = example().pack().unwrap();
    for end in 0..bytes.len() {
        assert!(CountryRanges::unpack(&bytes[..end]).is_err(), "{end}");
    }
    let other_layout = [&[9], &bytes[1..]].concat();
    assert!(matches!(CountryRanges::unpack(&other_layout), Err(RangesError::Layout)));
}

#[test]
fn national_numbers_have_up_to_fifteen_digits() {
    for text in ["", "+1", "1234567890123456", "12 3"] {
        assert!(text.parse::<NationalNumber>().is_err(), "{text}");
    }
    let number = |text: &str| text.parse::<NationalNumber>().unwrap();
    assert_eq!(number("0099").to_string(), "0099");
    assert_eq!(number("0099").next(), Some(number("0100")));
    assert_eq!((number("99").next(), number("00").previous()), (None, None));
    assert_eq!(number("0100").previous(), Some(number("0099")));
    assert_eq!(NationalNumber::block("12", 4), Some((number("1200"), number("1299"))));
    for length in [2, 16, usize::MAX] {
        assert_eq!(NationalNumber::block("123", length), None, "{length}");
    }
    assert_eq!(number("1200").count_to(number("1299")), 100);
}
