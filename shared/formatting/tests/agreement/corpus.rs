//! The inputs, and the results from Google's own implementation.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    env,
    fs::{self, File},
    io::Read,
};

use flate2::read::GzDecoder;
use formatting::DefaultCountry;
use serde::Deserialize;
use serde_json::{Map, Value};

/// One input with Google's result.
#[derive(Debug, Deserialize)]
pub struct Case {
    pub case: String,
    #[serde(flatten)]
    pub input: Input,
    parse_error: Option<String>,
    #[serde(flatten)]
    expected: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Input {
    #[serde(rename = "input")]
    pub text: String,
    pub default_region: Option<String>,
}

/// The fields that both implementations share.
pub const FIELDS: [&str; 9] = [
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

/// A value for each of [`FIELDS`]; `null` for worldwide or missing regions, unknown types and missing
/// extensions.
pub type Outcome = [Value; FIELDS.len()];

impl Case {
    /// The country to parse with. If the input has no default region, this is a country without rules.
    pub fn default_country(&self) -> DefaultCountry {
        const COUNTRY_WITHOUT_RULES: &str = "AQ";
        let region = self.input.default_region.as_deref().unwrap_or(COUNTRY_WITHOUT_RULES);
        region.parse().unwrap()
    }

    /// Google's result; `None` for a parse error.
    pub fn outcome(&self) -> Option<Outcome> {
        const MISSING: [(&str, &str); 3] =
            [("region", "001"), ("type", "UNKNOWN"), ("extension", "")];
        let is_missing =
            |field, value: &Value| MISSING.iter().any(|it| it.0 == field && value == it.1);
        let value = |field| self.expected.get(field).filter(|it| !is_missing(field, it)).cloned();
        self.parse_error.is_none().then(|| FIELDS.map(|field| value(field).unwrap_or_default()))
    }
}

const CORPUS: &str = "TNR_PHONE_CORPUS";

/// Returns `true` if the test reads the complete corpus instead of the selection.
pub fn is_complete() -> bool {
    env::var_os(CORPUS).is_some()
}

pub fn cases() -> Vec<Case> {
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

/// The inputs in docs/phone-number-exceptions.jsonl, each a deliberate difference with a reason.
pub fn exceptions() -> BTreeSet<Input> {
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

/// Google's results from a file in the folder at `TNR_LIBPHONENUMBER_ANSWERS`; without it, the committed ones.
/// `.ci/libphonenumber/generate` writes both.
pub fn answers(file: &str, committed: &'static str) -> Cow<'static, str> {
    match env::var("TNR_LIBPHONENUMBER_ANSWERS") {
        Ok(folder) => fs::read_to_string(format!("{folder}/{file}")).unwrap().into(),
        Err(_) => committed.into(),
    }
}
