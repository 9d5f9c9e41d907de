//! Runs a function's routes in process, for the tests next to its handlers. The routes use a small in-memory dataset,
//! and need no database, port or key.
//!
//! The end-to-end tests cover keys, quotas and HTTP rules, which these tests bypass.

// A failed unwrap fails the test.
#![allow(clippy::unwrap_used)]

mod history;

use std::fmt::Write;

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, Method},
};
use jiff::Timestamp;
use numbering::{
    dataset::Dataset,
    records::{Record, Version},
};
use serde_json::Value;
use shared::{
    auth::{Charge, KeyKind},
    in_process::{InProcessRoutes, RouteResponse},
    public_address::PublicAddress,
    routes::Routes,
    state::App,
};
use store::{
    CurrentDataset, ImportedReport, ImportedReports, KeyRecord, LoadedVersion, Manifest,
    ReportName, Snapshot, Store,
};

pub use history::{AppWithHistory, HistoryTable, app_with_history};

/// A function's routes, called in process.
pub struct TestApi {
    routes: InProcessRoutes,
    key: KeyKind,
}

impl TestApi {
    /// Serves `routes` from the records in `small_dataset.json`.
    pub fn new(routes: Routes) -> Self {
        Self::on(routes, app())
    }

    /// Serves `routes` from this app.
    pub fn on(routes: Routes, app: App) -> Self {
        Self { routes: InProcessRoutes::new([routes], app), key: KeyKind::Live }
    }

    /// Sends requests to this address.
    pub fn at(&self, address: PublicAddress) -> Self {
        Self { routes: self.routes.at(address), key: self.key }
    }

    /// Uses a key of this kind for requests.
    pub fn with_key(self, key: KeyKind) -> Self {
        Self { key, ..self }
    }

    /// Sends a `GET` request with these headers.
    pub async fn get(&self, target: &str, headers: &[(&str, &str)]) -> RouteResponse {
        self.send(Method::GET, target, headers, String::new()).await
    }

    /// Sends a `POST` request with these headers and this body.
    pub async fn post(
        &self,
        target: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> RouteResponse {
        self.send(Method::POST, target, headers, body).await
    }

    async fn send(
        &self,
        method: Method,
        target: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> RouteResponse {
        let mut request = Request::builder().method(method).uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.extension(Charge::default()).extension(self.key);
        self.routes.send(request.body(body.into()).unwrap()).await
    }

    /// The body of a successful response.
    pub async fn ok(&self, target: &str) -> Value {
        let response = self.get(target, &[]).await;
        assert!(response.status.is_success(), "{target}: {response:?}");
        serde_json::from_slice(&response.body).unwrap()
    }

    /// The body of the response to each of these requests, which must succeed.
    pub async fn responses<'t>(&self, targets: impl IntoIterator<Item = &'t str>) -> String {
        let mut responses = String::new();
        for target in targets {
            writeln!(responses, "{target}\n{:#}\n", self.ok(target).await).unwrap();
        }
        responses
    }

    /// The status, error code and message for each of these requests, which must be rejected.
    pub async fn rejections<'t>(&self, targets: impl IntoIterator<Item = &'t str>) -> String {
        let mut rejections = String::new();
        for target in targets {
            let response = self.get(target, &[]).await;
            let body: Value = serde_json::from_slice(&response.body).unwrap();
            let [code, message] = ["error", "message"].map(|field| body[field].as_str().unwrap());
            writeln!(rejections, "{target}\n  {} {code}: {message}", response.status.as_u16())
                .unwrap();
        }
        rejections
    }

    /// Asserts that lists contain these records. Each line has a request and the codes that it returns, such as
    /// `/v1/search?nxx=201 -> 415-201 700-201`.
    pub async fn assert_lists(&self, cases: &str) {
        for (target, expected) in cases.lines().map(|line| line.split_once(" ->").unwrap()) {
            let list = self.ok(target).await;
            let rows = list.as_object().unwrap().values().find_map(Value::as_array).unwrap();
            let codes = rows.iter().map(|row| {
                let field = |name: &str| row[name].as_str();
                match (field("npa"), field("nxx")) {
                    (Some(npa), Some(nxx)) => format!("{npa}-{nxx}"),
                    (npa, _) => npa.or(field("ocn")).unwrap().to_owned(),
                }
            });
            assert_eq!(codes.collect::<Vec<_>>().join(" "), expected.trim(), "{target}");
        }
    }

    /// Asserts that the CSV response has the same rows and columns as `field` in the JSON response. `npa` and `nxx`
    /// come first if the JSON has them outside its rows.
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
            let outside =
                ["npa", "nxx"].into_iter().filter_map(|name| Some((name, json.get(name)?)));
            let expected = outside.chain(fields.iter().map(|(name, value)| (&**name, value)));
            let cell = |value: &Value| match value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let expected: Vec<_> = expected.map(|(name, value)| (name, cell(value))).collect();
            let cells = columns.iter().zip(row.iter().map(str::to_owned));
            assert_eq!(cells.collect::<Vec<_>>(), expected, "{target}");
        }
    }
}

/// The value of a header; empty if missing.
pub fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

/// One imported report without rows.
fn imported_reports(read_at: Timestamp) -> ImportedReports {
    let report = ImportedReport {
        address: "https://a.example/codes.zip".to_owned(),
        read_at,
        sha256: "0".repeat(64),
        ..ImportedReport::default()
    };
    ImportedReports([(ReportName::Nanpa, report)].into())
}

/// A charge against a daily quota, which the app counts without a table.
pub fn charge(app: &App, per_day: u32) -> Charge {
    let record = KeyRecord::new("a".to_owned(), "tnr_live_Sample", "tests", Timestamp::UNIX_EPOCH);
    Charge::for_key(&app.quotas, KeyRecord { per_day: Some(per_day), ..record })
}

/// The records in `small_dataset.json`.
pub fn small_dataset() -> Dataset {
    Dataset::from_json(include_str!("small_dataset.json")).unwrap()
}

/// The small dataset after `change` to each of its records.
pub fn changed_dataset(change: impl FnMut(&mut Record)) -> Dataset {
    let mut records: Vec<Record> = small_dataset().records().collect();
    records.iter_mut().for_each(change);
    Dataset::from_records(records.into_iter())
}

/// An app with the records in `small_dataset.json`. Every database read fails, so the in-memory dataset is used.
pub fn app() -> App {
    let store = Store::unreachable();
    let (version, at) = (Version::new(Timestamp::UNIX_EPOCH), Timestamp::UNIX_EPOCH);
    let dataset = small_dataset().into_successor(&Dataset::default(), version.clone());
    let snapshot = Snapshot::of(&dataset, version.clone(), at);
    let snapshot = Snapshot { reports: imported_reports(at), ..snapshot };
    let mut app = App::with_store(store.clone());
    let loaded = LoadedVersion { version, dataset: dataset.into() };
    let manifest = Manifest::new(None, snapshot, |_| false);
    app.dataset = CurrentDataset::with_loaded(store, loaded, manifest).into();
    app
}
