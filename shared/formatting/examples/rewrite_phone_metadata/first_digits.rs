//! Computes the first two digits of the numbers that can match each pattern.

#![expect(deprecated, reason = "the fields are only shadowed inside the crate's own wrapper")]

use regex_automata::{Anchored, hybrid::dfa::DFA, util::start};
use rlibphonenumber::{NumberFormat, PhoneMetadata, PhoneMetadataCollection, PhoneNumberDesc};

const ALL: u128 = (1 << 100) - 1;

/// The file that `src/first_digits.rs` reads. For each region, it contains the code and calling code, the number of
/// national and international formats, and a set of digit pairs for each of the ten number types and each
/// format.
pub fn file(collection: &PhoneMetadataCollection) -> Vec<u8> {
    collection.metadata.iter().flat_map(for_region).collect()
}

fn for_region(metadata: &PhoneMetadata) -> Vec<u8> {
    let types = [
        &metadata.premium_rate,
        &metadata.toll_free,
        &metadata.shared_cost,
        &metadata.voip,
        &metadata.personal_number,
        &metadata.pager,
        &metadata.uan,
        &metadata.voicemail,
        &metadata.fixed_line,
        &metadata.mobile,
    ];
    let national = &metadata.number_format;
    let international = &metadata.intl_number_format;
    let mut bytes = format!("{:<3}", metadata.id).into_bytes();
    bytes.extend(u16::try_from(metadata.country_code()).expect("three digits").to_le_bytes());
    bytes.extend([national, international].map(|formats| count(formats)));
    let types = types.into_iter().map(|number_type| number_type.as_ref().map_or(0, type_bits));
    let formats = national.iter().chain(international).map(format_bits);
    bytes.extend(types.chain(formats).flat_map(u128::to_le_bytes));
    bytes
}

fn count(formats: &[NumberFormat]) -> u8 {
    formats.len().try_into().expect("a region has only dozens of formats")
}

fn type_bits(number_type: &PhoneNumberDesc) -> u128 {
    number_type.national_number_pattern.as_deref().map_or(0, pattern_bits)
}

/// A number uses the format if it matches its last leading-digits pattern, which is the most specific.
fn format_bits(format: &NumberFormat) -> u128 {
    let leading_digits = format.leading_digits_pattern.last();
    let bits = leading_digits.map_or(ALL, |pattern| {
        pattern_bits(pattern.strip_suffix('$').expect("the metadata anchors its patterns"))
    });
    bits & pattern_bits(&format.pattern)
}

/// The pairs of digits that a match can start with: bit 42 is set for `42`.
fn pattern_bits(pattern: &str) -> u128 {
    let dfa = DFA::new(pattern).expect("the crate also compiles the pattern");
    let possible = (0..100).filter(|pair| can_start(&dfa, [b'0' + pair / 10, b'0' + pair % 10]));
    possible.fold(0, |pairs, pair| pairs | 1 << pair)
}

fn can_start(pattern: &DFA, digits: [u8; 2]) -> bool {
    let mut cache = pattern.create_cache();
    let anchored = start::Config::new().anchored(Anchored::Yes);
    let start = pattern.start_state(&mut cache, &anchored).expect("the pattern has no look-behind");
    let mut states = digits.into_iter().scan(start, |state, digit| {
        *state = pattern.next_state(&mut cache, *state, digit).expect("the cache is large enough");
        Some(*state)
    });
    // The automaton reports a match one digit late, and may be in a dead state after it.
    let (first, second) = (states.next(), states.next());
    first.is_some_and(|state| state.is_match()) || second.is_some_and(|state| !state.is_dead())
}
