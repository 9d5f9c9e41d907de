//! A function's routes for the tests beside its handlers: in the process, on a small dataset in memory, without a
//! database, a port or a key.
//!
//! Keys, quotas and HTTP's own rules are not in these routes; the end-to-end tests hold them.

// A test fails by it.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, Method},
};
use jiff::Timestamp;
use numbering::{
    dataset::Dataset,
    records::{AreaCode, Carrier, Exchange, Version},
};
use serde::Deserialize;
use serde_json::Value;
use shared::{
    app::Routes,
    auth::Charge,
    in_process::{Answer, InProcess},
    state::App,
};
use store::{CurrentDataset, FileDates, LoadedVersion, Manifest, Snapshot, Store, TimeoutProfile};

/// A port that nothing listens on, so each read fails at once and memory answers.
const UNREACHABLE: &str = "http://127.0.0.1:1";

#[derive(Deserialize)]
struct Records {
    carriers: Vec<Carrier>,
    area_codes: Vec<AreaCode>,
    exchanges: Vec<Exchange>,
}

/// A function's routes.
pub struct TestApi(InProcess);

impl TestApi {
    /// The routes of a function, on the records of `small_dataset.json`.
    pub fn new(routes: Routes) -> Self {
        Self(InProcess::new([routes], app()))
    }

    /// The answer to a `GET` of this path and query, with these headers.
    pub async fn get(&self, target: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask(Method::GET, target, headers, String::new()).await
    }

    /// The answer to a `POST` of this body.
    pub async fn post(&self, target: &str, headers: &[(&str, &str)], body: String) -> Answer {
        self.ask(Method::POST, target, headers, body).await
    }

    async fn ask(
        &self,
        method: Method,
        target: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.0.ask(request.extension(Charge::default()).body(Body::from(body)).unwrap()).await
    }

    /// The body of a successful answer.
    pub async fn ok(&self, target: &str) -> Value {
        let answer = self.get(target, &[]).await;
        assert!(answer.status.is_success(), "{target}: {answer:?}");
        serde_json::from_slice(&answer.body).unwrap()
    }

    /// The status, code and message with which each of these requests is refused.
    pub async fn refusals<const N: usize>(&self, targets: [&str; N]) -> String {
        let mut refusals = String::new();
        for target in targets {
            let answer = self.get(target, &[]).await;
            let body: Value = serde_json::from_slice(&answer.body).unwrap();
            let [code, message] = ["error", "message"].map(|field| body[field].as_str().unwrap());
            writeln!(refusals, "{target}\n  {} {code}: {message}", answer.status.as_u16()).unwrap();
        }
        refusals
    }

    /// Asserts that a list in CSV has the rows and columns that `field` has in JSON, and before them `npa` if rows of
    /// JSON lack it.
    pub async fn assert_csv_agrees_with_json(&self, target: &str, field: &str) {
        let json = self.ok(target).await;
        let csv = self.get(target, &[("accept", "text/csv")]).await;
        assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8; header=present");
        let mut reader = csv::Reader::from_reader(&*csv.body);
        let columns = reader.headers().unwrap().clone();
        let objects = json[field].as_array().unwrap();
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), objects.len(), "{target}");
        for (row, object) in rows.iter().zip(objects) {
            let fields = object.as_object().unwrap();
            let npa = json.get("npa").map(|npa| ("npa", npa));
            let expected =
                npa.into_iter().chain(fields.iter().map(|(name, value)| (&**name, value)));
            let expected: Vec<_> =
                expected.map(|(name, value)| (name, value.as_str().unwrap_or_default())).collect();
            assert_eq!(columns.iter().zip(row).collect::<Vec<_>>(), expected, "{target}");
        }
    }
}

/// The value of a header; empty if missing.
pub fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

fn app() -> App {
    let store = Store::at_emulator(UNREACHABLE, TimeoutProfile::Request);
    let Records { carriers, area_codes, exchanges } =
        serde_json::from_str(include_str!("small_dataset.json")).unwrap();
    let (version, imported_at) = (Version::new(Timestamp::UNIX_EPOCH), Timestamp::UNIX_EPOCH);
    let dataset = Dataset::new(carriers, area_codes, exchanges)
        .following(&Dataset::default(), version.clone());
    let snapshot = Snapshot::new(
        version.clone(),
        b"",
        dataset.statistics(),
        FileDates::default(),
        imported_at,
    );
    let mut app = App::on(store.clone());
    let loaded = LoadedVersion { version, dataset: dataset.into() };
    let manifest = Manifest::following(None, snapshot, |_| false);
    app.dataset = CurrentDataset::in_memory_already(store, loaded, manifest).into();
    app
}
