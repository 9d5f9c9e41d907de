//! Numbers with a fixed outcome for test keys, so that integrations can be tested without real numbers. They are in
//! exchange 555, where numbers 0100 to 0199 are reserved for fiction.
//!
//! docs/TEST-NUMBERS.md lists the numbers, and the tests read it.

use std::{ptr, sync::LazyLock};

use formatting::PhoneNumber;
use jiff::Timestamp;
use numbering::dataset::Dataset;
use shared::{
    auth::KeyKind,
    errors::ApiError,
    quota::{LimitType, QuotaExceeded, QuotaStatus},
};

use super::block::NanpParts;

const EXCHANGE: &str = "555";
const RATE_LIMITED: &str = "5005550429";
const UNAVAILABLE: &str = "5005550503";

/// The numbering data for test numbers. `examples/pack_test_numbers` writes the file.
static DATASET: LazyLock<Dataset> = LazyLock::new(|| {
    Dataset::unpack(include_bytes!("test_numbers.bin")).expect("a test reads the file")
});

/// The data for a test number; `None` for any other number, or if the key is live.
pub fn dataset(key: KeyKind, number: &PhoneNumber) -> Option<&'static Dataset> {
    if key != KeyKind::Test {
        return None;
    }
    let npa_nxx = NanpParts::from_number(number)?.npa_nxx;
    let is_test_number =
        *npa_nxx.nxx.to_string() == *EXCHANGE && DATASET.area_code(npa_nxx.npa).is_some();
    is_test_number.then_some(&*DATASET)
}

/// Returns `true` if this is the data for test numbers, where no exchange has a special use.
pub fn is_test_data(dataset: &Dataset) -> bool {
    ptr::eq(dataset, &*DATASET)
}

/// Returns an error if the number is a test number that simulates one.
pub fn simulate_error(key: KeyKind, number: &PhoneNumber) -> Result<(), ApiError> {
    match &*number.national_number {
        _ if key != KeyKind::Test => Ok(()),
        RATE_LIMITED => Err(ApiError::RateLimited(exceeded_quota().into())),
        UNAVAILABLE => Err(ApiError::Unavailable),
        _ => Ok(()),
    }
}

/// A quota that was just exhausted.
fn exceeded_quota() -> QuotaExceeded {
    let reset = Timestamp::now().as_second() + 60;
    let exhausted = QuotaStatus { limit_type: LimitType::Minute, limit: 600, remaining: 0, reset };
    QuotaExceeded::new(exhausted, 1)
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use serde_json::Value;
    use test_api::TestApi;

    use super::*;
    use crate::routes;

    const DOCUMENT: &str = include_str!("../../../docs/TEST-NUMBERS.md");

    /// The rows of the table under a heading, as cells without quotes.
    fn table(heading: &str) -> Vec<Vec<&'static str>> {
        let (_, section) = DOCUMENT.split_once(&format!("## {heading}\n")).unwrap();
        let lines = section.lines().skip_while(|line| !line.starts_with('|')).skip(2);
        let rows = lines.take_while(|line| line.starts_with('|'));
        let cells = |line: &'static str| line.trim_matches('|').split('|');
        rows.map(|line| cells(line).map(|cell| cell.trim().trim_matches('`')).collect()).collect()
    }

    async fn get(key: KeyKind, target: &str) -> (StatusCode, Value) {
        let response = TestApi::new(routes()).with_key(key).get(target, &[]).await;
        (response.status, serde_json::from_slice(&response.body).unwrap())
    }

    fn encode(text: &str) -> String {
        percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
    }

    fn text(value: &Value) -> &str {
        value.as_str().unwrap_or("null")
    }

    #[tokio::test]
    async fn test_keys_get_the_documented_outcomes() {
        let rows = table("Outcomes");
        assert_eq!(rows.len(), 11);
        for row in rows {
            let [number, _, valid, verdict, line, carrier] = *row else { panic!("{row:?}") };
            let target = format!("/v1/format?tn={}&include=all", encode(number));
            let (status, body) = get(KeyKind::Test, &target).await;
            assert_eq!(status, StatusCode::OK);
            let found = [
                &body["valid"].to_string(),
                text(&body["assignment"]["verdict"]),
                text(&body["line"]["type"]),
                text(&body["carrier"]["name"]),
            ];
            assert_eq!(found, [valid, verdict, line, carrier], "{number}");
            let (_, without_test) = get(KeyKind::Live, &target).await;
            assert_eq!(without_test["carrier"]["name"], Value::Null, "{number}");
            let target = target.replace("/format", "/lookup").replace("&include=all", "");
            let (status, body) = get(KeyKind::Test, &target).await;
            let has_exchange = status == StatusCode::OK;
            assert!(!has_exchange || text(&body["carrier"]["name"]) == carrier, "{number}: {body}");
            assert_ne!(get(KeyKind::Live, &target).await.0, StatusCode::OK, "{number}");
        }
    }

    #[tokio::test]
    async fn invalid_texts_have_the_documented_reasons_with_any_key() {
        let rows = table("Invalid numbers");
        assert_eq!(rows.len(), 12);
        for row in rows {
            let [tn, code] = *row else { panic!("{row:?}") };
            for key in [KeyKind::Test, KeyKind::Live] {
                let tn =
                    if code == "TEXT_TOO_LONG" { "1".repeat(251) } else { tn.replace("%20", " ") };
                let (_, body) =
                    get(key, &format!("/v1/format?tn={}&include=reason", encode(&tn))).await;
                assert_eq!(text(&body["reason"]["code"]), code, "{tn}");
            }
        }
    }

    #[tokio::test]
    async fn test_keys_simulate_errors_at_every_endpoint() {
        let rows = table("Errors");
        assert_eq!(rows.len(), 2);
        for row in rows {
            let [number, status, error] = *row else { panic!("{row:?}") };
            let tn = encode(number);
            let api = TestApi::new(routes()).with_key(KeyKind::Test);
            for path in ["/v1/format", "/v1/lookup"] {
                let target = format!("{path}?tn={tn}");
                let before = Timestamp::now().as_second();
                let response = api.get(&target, &[]).await;
                assert_eq!(response.status.as_str(), status, "{target}");
                assert!(response.headers.contains_key("retry-after"), "{target}");
                let body: Value = serde_json::from_slice(&response.body).unwrap();
                assert_eq!(text(&body["error"]), error);
                if number.ends_with("0429") {
                    let reset = body["details"]["reset"].as_i64().unwrap();
                    let minute = before + 60..=Timestamp::now().as_second() + 60;
                    assert!(minute.contains(&reset), "{body}");
                }
                let live = get(KeyKind::Live, &target).await.0;
                assert!(![503, 429].contains(&live.as_u16()), "{target}");
                let past = api.get(&format!("{target}&as_of=2026-01-01"), &[]).await;
                assert_eq!(past.status.as_str(), status, "{path} with as_of");
            }
            for path in ["/v1/format", "/v1/find"] {
                let headers = [("content-type", "text/plain")];
                let response = api.post(path, &headers, format!("305 234 5678\n{number}")).await;
                assert_eq!(response.status.as_str(), status, "{path}");
            }
        }
    }

    #[test]
    fn only_exchange_555_in_documented_area_codes_has_test_data() {
        for (text, expected) in
            [("201 555 0100", true), ("201 234 5678", false), ("415 555 0100", false)]
        {
            let number = PhoneNumber::parse(text, formatting::DefaultCountry::default()).unwrap();
            assert_eq!(dataset(KeyKind::Test, &number).is_some(), expected, "{text}");
            assert!(dataset(KeyKind::Live, &number).is_none(), "{text}");
        }
    }

    /// These tests do not have a history of the numbering data.
    #[tokio::test]
    async fn test_numbers_are_the_same_on_any_day() {
        for path in ["/v1/format", "/v1/lookup"] {
            let target = format!("{path}?tn=2015550100&as_of=2026-01-01");
            let (status, body) = get(KeyKind::Test, &target).await;
            assert_eq!(status, StatusCode::OK, "{path}");
            assert_eq!(text(&body["carrier"]["name"]), "TEST WIRELESS, INC.", "{path}");
            let (status, _) = get(KeyKind::Live, &target).await;
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        }
    }
}
