//! Requests for past data, against a stub for the history table. The end-to-end tests cover the records, reads and
//! charges for most of them.

// A failed unwrap fails the test.
#![allow(clippy::unwrap_used)]

use axum::{extract::FromRequestParts, http::Request};
use jiff::{SignedDuration, Timestamp};
use numbering::{
    dataset::Dataset,
    records::{Record, RecordKey},
    time::this_second,
};
use shared::past_time::AsOf;
use test_api::{AppWithHistory, app_with_history, small_dataset};

fn key(npa: &str) -> RecordKey {
    RecordKey::AreaCode(npa.parse().unwrap())
}

/// The small dataset, with changed copies of a record added.
fn with_copies(key: RecordKey, change: impl FnOnce(Record) -> Vec<Record>) -> Dataset {
    let dataset = small_dataset();
    let copies = change(dataset.record(key).unwrap());
    Dataset::from_records(dataset.records().chain(copies))
}

/// Publishes these versions, the first four days ago.
async fn published(versions: Vec<Dataset>) -> (AppWithHistory, Timestamp) {
    let start = this_second() - SignedDuration::from_hours(24 * 4);
    (app_with_history(start, versions).await, start)
}

/// The time for a request with a daily quota, already charged as one request.
async fn as_of(app: &shared::state::App, time: Timestamp, per_day: u32) -> AsOf {
    let charge = test_api::charge(app, per_day);
    charge.raise_to(1).await.unwrap();
    let (mut parts, ()) = Request::get(format!("/?as_of={time}")).body(()).unwrap().into_parts();
    parts.extensions.insert(charge);
    AsOf::from_request_parts(&mut parts, &()).await.unwrap()
}

/// The small dataset with one more code in California, which is not an overlay.
fn with_213(notes: &str) -> Dataset {
    with_copies(key("415"), |record| {
        let Record::AreaCode(mut code) = record else { panic!() };
        code.npa = "213".parse().unwrap();
        code.plan.overlay.clear();
        code.plan.notes = Some(notes.to_owned());
        vec![Record::AreaCode(code)]
    })
}

/// If the time zone map does not have a code, it gets the time zones of its state's other codes.
#[tokio::test]
async fn past_dataset_includes_the_states_other_codes_as_they_are_now() {
    let versions = vec![with_213("Then"), with_213("Now")];
    let (AppWithHistory { app, .. }, start) = published(versions).await;
    let before = app.past(&as_of(&app, start, 9).await).await.unwrap().unwrap();
    for (own, notes) in [("213", "Then"), ("415", "Now")] {
        let dataset = before.dataset(key(own)).await.unwrap();
        let code = dataset.area_code("213".parse().unwrap()).unwrap();
        assert_eq!(code.plan.notes.as_deref(), Some(notes), "{own}");
        assert!(dataset.area_code("415".parse().unwrap()).is_some(), "{own}");
        assert_eq!(dataset.area_code("416".parse().unwrap()), None, "another state");
    }
}

/// The small dataset with this many more exchanges in 415, starting with 300.
fn with_exchanges(count: u16) -> Dataset {
    with_copies(RecordKey::Exchange("415-202".parse().unwrap()), |record| {
        let Record::Exchange(model) = record else { panic!() };
        let copy = |nxx: u16| {
            let mut exchange = model.clone();
            exchange.nxx = nxx.to_string().parse().unwrap();
            Record::Exchange(exchange)
        };
        (300..300 + count).map(copy).collect()
    })
}

/// The response needs a dataset of all the exchanges, even if only a few records are read.
#[tokio::test]
async fn whole_area_code_counts_as_one_request_per_256_exchanges() {
    // The small dataset has five.
    for (count, per_day, fits) in [(251, 1, true), (252, 1, false), (252, 2, true)] {
        let versions = vec![with_exchanges(count), with_exchanges(count + 1)];
        let (AppWithHistory { app, .. }, start) = published(versions).await;
        let past = app.past(&as_of(&app, start, per_day).await).await.unwrap().unwrap();
        assert_eq!(past.dataset(key("415")).await.is_ok(), fits, "{count} {per_day}");
    }
}
