//! Compares results with Google's libphonenumber, input by input.
//!
//! Results must agree wherever Google's rules read a valid number, and wherever the service does not. Inputs
//! that only the service reads, by ignoring words or punctuation, are counted separately.
//!
//! Reads the corpus at `TNR_PHONE_CORPUS` (gzipped JSON Lines), by default the committed selection.
//! `cargo test -p formatting --test agreement -- --nocapture` prints the counts.

// Tests may panic.
#![allow(clippy::unwrap_used)]

use std::{
    borrow::Cow,
    collections::BTreeSet,
    env,
    fs::{self, File},
    io::Read,
};

use flate2::read::GzDecoder;
use formatting::{
    DefaultCountry, Languages, Leniency, LocalName, NumberInText, PhoneNumber, find_numbers,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// One input with Google's result.
#[derive(Debug, Deserialize)]
struct Case {
    case: String,
    #[serde(flatten)]
    input: Input,
    parse_error: Option<String>,
    #[serde(flatten)]
    expected: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Input {
    #[serde(rename = "input")]
    text: String,
    default_region: Option<String>,
}

/// The fields that both implementations share.
const FIELDS: [&str; 9] = [
    "valid",
    "possible",
    "region",
    "national_number",
    "e164",
    "national",
    "rfc3966",
    "type",
    "extension",
];

/// The value of each of [`FIELDS`]; `null` for worldwide or missing regions, unknown types and missing
/// extensions.
type Outcome = [Value; FIELDS.len()];

impl Case {
    /// The country to parse with. If the input has no default region, a country without rules.
    fn default_country(&self) -> DefaultCountry {
        const COUNTRY_WITHOUT_RULES: &str = "AQ";
        let region = self.input.default_region.as_deref().unwrap_or(COUNTRY_WITHOUT_RULES);
        region.parse().unwrap()
    }

    /// Google's result; `None` for a parse error.
    fn outcome(&self) -> Option<Outcome> {
        const MISSING: [(&str, &str); 3] =
            [("region", "001"), ("type", "UNKNOWN"), ("extension", "")];
        let is_missing =
            |field, value: &Value| MISSING.iter().any(|it| it.0 == field && value == it.1);
        let value = |field| self.expected.get(field).filter(|it| !is_missing(field, it)).cloned();
        self.parse_error.is_none().then(|| FIELDS.map(|field| value(field).unwrap_or_default()))
    }
}

/// The variable with the path of a complete corpus, which replaces the selection.
const CORPUS: &str = "TNR_PHONE_CORPUS";

fn cases() -> Vec<Case> {
    let text = match env::var_os(CORPUS) {
        Some(file) => {
            let mut text = String::new();
            GzDecoder::new(File::open(file).unwrap()).read_to_string(&mut text).unwrap();
            text
        }
        None => include_str!("selection.jsonl").to_owned(),
    };
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The inputs in docs/phone-number-exceptions.jsonl: deliberate differences, each with a reason.
fn exceptions() -> BTreeSet<Input> {
    #[derive(Deserialize)]
    struct Exception {
        #[serde(flatten)]
        input: Input,
        reason: String,
    }
    let list = include_str!("../../../../docs/phone-number-exceptions.jsonl").lines();
    let exceptions = list.map(|line| {
        let Exception { input, reason } = serde_json::from_str(line).unwrap();
        assert!(!reason.is_empty(), "{input:?} is listed without a reason");
        input
    });
    exceptions.collect()
}

/// Google's results from a file in the folder at `TNR_LIBPHONENUMBER_RESULTS`, or the committed ones if unset.
/// `.ci/libphonenumber/generate` writes both.
fn google_results(file: &str, committed: &'static str) -> Cow<'static, str> {
    match env::var("TNR_LIBPHONENUMBER_RESULTS") {
        Ok(folder) => fs::read_to_string(format!("{folder}/{file}")).unwrap().into(),
        Err(_) => committed.into(),
    }
}

/// The service's result for a case, in the corpus's terms.
fn our_outcome(case: &Case) -> Option<Outcome> {
    let number = PhoneNumber::parse(&case.input.text, case.default_country())?;
    Some([
        number.valid.into(),
        number.possible.into(),
        number.country.into(),
        number.national_number.into(),
        number.formats.e164.into(),
        number.formats.national.into(),
        number.formats.rfc3966.into(),
        json!(number.number_type),
        number.extension.into(),
    ])
}

/// Returns `true` if only the service can parse the input, or finds a valid number in it.
fn parses_only_here(ours: &Option<Outcome>, googles: &Option<Outcome>) -> bool {
    let Some([is_valid, ..]) = ours else { return false };
    googles
        .as_ref()
        .is_none_or(|[is_googles_valid, ..]| *is_valid == true && *is_googles_valid == false)
}

#[test]
fn results_match_googles_except_for_listed_exceptions() {
    let (cases, listed) = (cases(), exceptions());
    let (mut disagreements, mut unlisted) = (BTreeSet::new(), Vec::new());
    let (mut agreeing, mut only_ours) = (0, 0);
    for case in &cases {
        let (ours, googles) = (our_outcome(case), case.outcome());
        let is_ours_alone = parses_only_here(&ours, &googles);
        only_ours += usize::from(is_ours_alone);
        agreeing += usize::from(ours == googles);
        if ours != googles {
            disagreements.insert(case.input.clone());
            let is_listed = is_ours_alone || listed.contains(&case.input);
            unlisted.extend((!is_listed).then_some((&case.case, case)));
        }
    }
    println!("{agreeing} of {} agree, {only_ours} are read only by the service", cases.len());
    assert!(unlisted.is_empty(), "{} disagree and are not listed: {unlisted:#?}", unlisted.len());
    // Ignoring punctuation helps, but junk must not become a number.
    assert!(only_ours <= cases.len() * 2 / 100, "{only_ours} are read only by the service");
    if env::var_os(CORPUS).is_some() {
        let outdated: Vec<_> = listed.difference(&disagreements).collect();
        assert!(outdated.is_empty(), "listed as exceptions, but they agree: {outdated:#?}");
    }
}

const UNKNOWN_ZONE: &str = "Etc/Unknown";

fn parse(e164: &str) -> Option<PhoneNumber> {
    PhoneNumber::parse(e164, DefaultCountry::default())
}

fn time_zones(e164: &str) -> String {
    let zones = parse(e164).map_or_else(String::new, |number| number.time_zones().join(" "));
    if zones.is_empty() { UNKNOWN_ZONE.to_owned() } else { zones }
}

#[test]
fn time_zones_match_googles() {
    let google_results = google_results("time_zones.txt", include_str!("time_zones.txt"));
    let (mut count, mut different) = (0, Vec::new());
    for line in google_results.lines() {
        let (expected, numbers) = line.split_once(": ").unwrap();
        for number in numbers.split(' ') {
            count += 1;
            let found = time_zones(number);
            different.extend((found != expected).then_some((number, expected, found)));
        }
    }
    println!("{} of {count} numbers have Google's time zones", count - different.len());
    assert!(different.is_empty(), "{different:#?}");
    assert!(count > 300, "{count}");
}

#[test]
fn places_and_networks_match_googles() {
    let google_results = google_results("names.txt", include_str!("names.txt"));
    let (mut count, mut different) = (0, Vec::new());
    for line in google_results.lines() {
        let columns: Vec<_> = line.split('\t').collect();
        let [e164, language, place, network] = *columns else { panic!("{line}") };
        let languages: Languages = language.parse().unwrap();
        let number = parse(e164);
        let number = number.as_ref();
        let found_place = number.and_then(|number| number.place(&languages));
        let found_network = number.and_then(|number| number.network(&languages));
        for (found, expected) in [(found_place, place), (found_network, network)] {
            let found = found.map_or("", |it: LocalName| it.name);
            count += usize::from(!expected.is_empty());
            different.extend((found != expected).then_some((e164, language, expected, found)));
        }
    }
    println!("{} differ from Google's {count} places and networks", different.len());
    assert!(different.is_empty(), "{different:#?}");
    assert!(count > 100, "{count}");
}

/// Text and the numbers that Google finds in it: random numbers from the corpus between words, dates and amounts.
#[derive(Debug, Deserialize)]
struct TextCase {
    text: String,
    country: String,
    leniency: String,
    numbers: Vec<Found>,
}

/// The start and end in code points, the number in E.164, and its extension.
type Found = (usize, usize, String, String);

fn find(TextCase { text, country, leniency, .. }: &TextCase) -> Vec<Found> {
    let country: DefaultCountry = country.parse().unwrap();
    let leniency: Leniency = leniency.parse().unwrap();
    let numbers = find_numbers(text, country, leniency).map(|found| {
        let NumberInText { range, number } = found.unwrap();
        let position = |byte: usize| text[..byte].chars().count();
        let extension = number.extension.unwrap_or_default();
        (position(range.start), position(range.end), number.formats.e164, extension)
    });
    numbers.collect()
}

/// See decisions/0020 for the differences.
#[test]
fn numbers_found_in_text_nearly_always_match_googles() {
    let google_results = google_results("texts.jsonl", include_str!("texts.jsonl"));
    let cases: Vec<TextCase> =
        google_results.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let different: Vec<_> = cases
        .iter()
        .map(|case| (case, find(case)))
        .filter(|(case, found)| *found != case.numbers)
        .collect();
    println!("{different:#?}\n{} of {} samples differ from Google's", different.len(), cases.len());
    assert!(different.len() * 500 <= cases.len(), "{different:#?}");
    assert!(cases.iter().map(|case| case.numbers.len()).sum::<usize>() > cases.len() / 2);
}
