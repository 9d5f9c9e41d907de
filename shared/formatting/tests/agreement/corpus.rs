//! The inputs, with the results of Google's own implementation.

use std::{collections::BTreeSet, env, fs::File, io::Read};

use flate2::read::GzDecoder;
use formatting::DefaultCountry;
use serde::Deserialize;

/// One input with Google's result.
#[derive(Debug, Deserialize)]
pub struct Case {
    case: String,
    pub input: String,
    pub default_region: Option<String>,
    parse_error: Option<String>,
    #[serde(flatten)]
    expected: Option<ExpectedNumber>,
}

#[derive(Debug, Clone, Deserialize)]
struct ExpectedNumber {
    valid: bool,
    possible: bool,
    region: Option<String>,
    national_number: String,
    e164: String,
    national: String,
    rfc3966: String,
    r#type: String,
    extension: Option<String>,
}

/// A result in the terms that both implementations share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub valid: bool,
    pub possible: bool,
    /// `None` for the world (001), and if no region fits.
    pub region: Option<String>,
    pub national_number: String,
    pub e164: String,
    pub national: String,
    pub rfc3966: String,
    /// `None` if it is not known.
    pub number_type: Option<String>,
    pub extension: Option<String>,
}

impl Case {
    /// The first two parts of its name, which say what kind of input it is.
    pub fn class(&self) -> String {
        self.case.split('.').take(2).collect::<Vec<_>>().join(".")
    }

    /// The country to parse with. If the corpus has no default region, it is a country without
    /// rules.
    pub fn default_country(&self) -> DefaultCountry {
        const WITHOUT_RULES: &str = "AQ";
        let region = self.default_region.as_deref().unwrap_or(WITHOUT_RULES);
        region.parse().unwrap()
    }

    /// Google's result; `None` for a parse error.
    pub fn answer(&self) -> Option<Answer> {
        let expected = self.expected.clone().filter(|_| self.parse_error.is_none())?;
        Some(Answer {
            valid: expected.valid,
            possible: expected.possible,
            region: expected.region.filter(|region| region != "001"),
            national_number: expected.national_number,
            e164: expected.e164,
            national: expected.national,
            rfc3966: expected.rfc3966,
            number_type: Some(expected.r#type).filter(|word| word != "UNKNOWN"),
            extension: expected.extension.filter(|extension| !extension.is_empty()),
        })
    }
}

/// A case in which the service differs on purpose.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exception {
    input: String,
    default_region: Option<String>,
}

impl Exception {
    pub fn of(case: &Case) -> Self {
        Self { input: case.input.clone(), default_region: case.default_region.clone() }
    }
}

fn corpus_file() -> Option<std::ffi::OsString> {
    env::var_os("TNR_PHONE_CORPUS")
}

/// Whether the whole corpus is read instead of the selection.
pub fn is_whole() -> bool {
    corpus_file().is_some()
}

/// Every case of the corpus, or of the selection.
pub fn cases() -> Vec<Case> {
    let text = match corpus_file() {
        Some(file) => {
            let mut text = String::new();
            GzDecoder::new(File::open(file).unwrap()).read_to_string(&mut text).unwrap();
            text
        }
        None => include_str!("selection.jsonl").to_owned(),
    };
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The exceptions of docs/phone-number-exceptions.jsonl, each with its reason.
pub fn exceptions() -> BTreeSet<Exception> {
    #[derive(Deserialize)]
    struct Listed {
        input: String,
        default_region: Option<String>,
        reason: String,
    }
    let list = include_str!("../../../../docs/phone-number-exceptions.jsonl").lines();
    list.map(|line| serde_json::from_str::<Listed>(line).unwrap())
        .map(|Listed { input, default_region, reason }| {
            assert!(!reason.is_empty(), "{input} is listed without a reason");
            Exception { input, default_region }
        })
        .collect()
}
