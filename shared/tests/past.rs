//! Requests for the past, against a stub for the history table.

// A failed unwrap fails the test.
#![allow(clippy::unwrap_used)]

use axum::{extract::FromRequestParts, http::Request};
use jiff::{SignedDuration, Timestamp};
use numbering::{
    dataset::Dataset,
    records::{Npa, Record, RecordKey},
    time::{date_of, this_second},
};
use shared::{auth::Charge, errors::ApiError, past::Past, past_time::AsOf, state::App};
use test_api::{AppWithHistory, app_with_history, changed_dataset, small_dataset};

fn exchange(npa_nxx: &str) -> RecordKey {
    RecordKey::Exchange(npa_nxx.parse().unwrap())
}

fn carrier(ocn: &str) -> RecordKey {
    RecordKey::Carrier(ocn.parse().unwrap())
}

fn area_code(npa: &str) -> RecordKey {
    RecordKey::AreaCode(npa.parse().unwrap())
}

/// The small dataset, with a changed copy of a record added.
fn with_copy(key: RecordKey, change: impl FnOnce(Record) -> Vec<Record>) -> Dataset {
    changed_dataset(|records| {
        let model = records.iter().find(|record| record.key() == key).unwrap().clone();
        records.extend(change(model));
    })
}

/// The changed dataset: 415-200 moves, 415-201 is removed, 415-209 is added, and two holders and an overlay change.
fn changed() -> Dataset {
    changed_dataset(|records| {
        let mut added = small_dataset().exchange("415-202".parse().unwrap()).unwrap();
        added.nxx = "209".parse().unwrap();
        records.retain(|record| record.key() != exchange("415-201"));
        for record in records.iter_mut() {
            let key = record.key();
            match record {
                Record::Exchange(it) if key == exchange("415-200") => {
                    it.rate_center = Some("RICHMOND".to_owned());
                }
                Record::Carrier(it) if [carrier("6529"), carrier("9740")].contains(&key) => {
                    it.common_name = Some("Renamed".to_owned());
                }
                Record::AreaCode(it) if key == area_code("628") => {
                    it.plan.notes = Some("Changed".to_owned());
                }
                _ => (),
            }
        }
        records.push(Record::Exchange(added));
    })
}

/// Publishes these versions, the first four days ago.
async fn published(versions: Vec<Dataset>) -> (AppWithHistory, Timestamp) {
    let start = this_second() - SignedDuration::from_hours(24 * 4);
    (app_with_history(start, versions).await, start)
}

/// The small dataset, then the changed one.
async fn two_versions() -> (AppWithHistory, Timestamp) {
    published(vec![small_dataset(), changed()]).await
}

async fn as_of(time: impl ToString, charge: Charge) -> AsOf {
    let uri = format!("/?as_of={}", time.to_string());
    let (mut parts, ()) = Request::get(uri).body(()).unwrap().into_parts();
    parts.extensions.insert(charge);
    AsOf::from_request_parts(&mut parts, &()).await.unwrap()
}

async fn past(app: &App, time: impl ToString) -> Past<'_> {
    app.past(&as_of(time, Charge::default()).await).await.unwrap().unwrap()
}

/// The past for a request with a daily quota, already charged as one request.
async fn paid_past(app: &App, time: Timestamp, per_day: u32) -> Past<'_> {
    let charge = test_api::charge(app, per_day);
    charge.raise_to(1).await.unwrap();
    app.past(&as_of(time, charge).await).await.unwrap().unwrap()
}

fn codes(past: &Past<'_>, npa: &str) -> Vec<String> {
    let npa: Npa = npa.parse().unwrap();
    past.exchanges_in(npa).iter().map(|npa_nxx| npa_nxx.nxx.to_string()).collect()
}

#[tokio::test]
async fn records_that_differ_are_read_and_others_come_from_memory() {
    let (AppWithHistory { app, table, .. }, start) = two_versions().await;
    let before = past(&app, start).await;
    assert_eq!(table.take_calls(), ["Query"], "the publications");
    assert_eq!(before.published_at, start);
    assert_eq!(codes(&before, "415"), ["200", "201", "202", "203", "204"]);
    assert_eq!(codes(&before, "416"), ["234", "235"]);
    for (key, existed) in
        [("415-201", true), ("415-209", false), ("415-202", true), ("415-999", false)]
    {
        assert_eq!(before.existed(exchange(key)), existed, "{key}");
    }
    assert!(table.take_calls().is_empty(), "codes are in the publications");

    let original = small_dataset();
    let unchanged = [exchange("415-202"), carrier("8821"), exchange("415-209")];
    let records = before.records(unchanged).await.unwrap();
    assert_eq!(records.len(), 2, "one did not exist");
    assert!(table.take_calls().is_empty());
    for key in [exchange("415-200"), exchange("415-201"), carrier("9740"), exchange("415-203")] {
        let found = before.records([key]).await.unwrap().remove(&key);
        assert_eq!(found, original.record(key), "{key}");
    }
    assert_eq!(table.take_calls(), ["BatchGetItem"; 3]);
    let found = before.carrier("6529".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(found.common_name.as_deref(), Some("T-Mobile"));
    assert!(before.exchange("415-201".parse().unwrap()).await.unwrap().is_some());
    assert!(before.exchange("415-209".parse().unwrap()).await.unwrap().is_none());
}

#[tokio::test]
async fn past_dataset_has_everything_that_determines_a_record() {
    let (AppWithHistory { app, .. }, start) = two_versions().await;
    let before = past(&app, start).await;
    let original = small_dataset();
    let dataset = before.dataset(area_code("415")).await.unwrap();
    let npa: Npa = "415".parse().unwrap();
    assert!(dataset.exchanges_in(npa).eq(original.exchanges_in(npa)));
    // The overlay as it was, and the holders.
    for key in [area_code("415"), area_code("628"), carrier("6529")] {
        assert_eq!(dataset.record(key), original.record(key), "{key}");
    }
    // An area code in another state is not included.
    assert_eq!(dataset.area_code("416".parse().unwrap()), None);
    let single = before.dataset(exchange("415-201")).await.unwrap();
    assert_eq!(single.record(exchange("415-201")), original.record(exchange("415-201")));
    assert_eq!(single.exchanges().len(), 1);
    let holder = before.dataset(carrier("6529")).await.unwrap();
    assert_eq!(holder.record(carrier("6529")), original.record(carrier("6529")));
}

/// The small dataset with another code in California, which is not an overlay.
fn with_213(notes: &str) -> Dataset {
    with_copy(area_code("415"), |record| {
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
    let (AppWithHistory { app, .. }, start) =
        published(vec![with_213("Then"), with_213("Now")]).await;
    let before = past(&app, start).await;
    for (own, notes) in [("213", "Then"), ("415", "Now")] {
        let dataset = before.dataset(area_code(own)).await.unwrap();
        let code = dataset.area_code("213".parse().unwrap()).unwrap();
        assert_eq!(code.plan.notes.as_deref(), Some(notes), "{own}");
        assert!(dataset.area_code("415".parse().unwrap()).is_some(), "{own}");
    }
}

#[tokio::test]
async fn times_select_the_publication_that_was_current() {
    let (AppWithHistory { app, table, manifest, .. }, start) = two_versions().await;
    let second = manifest.publication.at;
    for (time, is_current) in [
        (start.to_string(), false),
        ((second - SignedDuration::from_secs(1)).to_string(), false),
        (second.to_string(), true),
        (date_of(second).to_string(), true),
        (date_of(second).tomorrow().unwrap().to_string(), true),
    ] {
        let past = past(&app, &time).await;
        assert_eq!(past.published_at == second, is_current, "{time}");
        let moved = past.exchange("415-200".parse().unwrap()).await.unwrap().unwrap();
        assert_eq!(moved.rate_center.as_deref() == Some("RICHMOND"), is_current, "{time}");
    }
    table.take_calls();
    let current = past(&app, second).await;
    let dataset = current.dataset(exchange("415-200")).await.unwrap();
    assert_eq!(dataset.exchanges().len(), changed().exchanges().len(), "it is the one in memory");
    assert!(table.take_calls().is_empty());

    let too_early = as_of(start - SignedDuration::from_secs(1), Charge::default()).await;
    let error = app.past(&too_early).await.err().unwrap();
    assert!(error.body().message().contains("begins"), "{error}");
    table.remove("publications", manifest.publication.id.as_str());
    let fresh = app_without_history(app);
    let error = fresh.past(&too_early).await.err().unwrap();
    assert!(matches!(&error, ApiError::NoHistory(_)), "{error:?}");
    assert!(fresh.past(&as_of(second, Charge::default()).await).await.is_ok());
}

fn app_without_history(mut app: App) -> App {
    app.history_cache = store::HistoryCache::new(app.store.clone()).into();
    app
}

/// Otherwise a deleted change would silently result in wrong data.
#[tokio::test]
async fn missing_change_is_an_error_instead_of_wrong_data() {
    let (AppWithHistory { app, table, .. }, start) = two_versions().await;
    table.remove("415", "201#");
    let before = past(&app, start).await;
    table.take_calls();
    let error = before.records([exchange("415-200"), exchange("415-201")]).await.unwrap_err();
    assert!(matches!(&error, ApiError::NoHistory(_)), "{error:?}");
    assert_eq!(table.take_calls(), ["BatchGetItem", "BatchGetItem, consistent"]);
    assert!(before.records([exchange("415-200")]).await.is_ok());
}

/// The small dataset with this many more exchanges in 415, starting with 300.
fn with_exchanges(count: u16, rate_center: &str) -> Dataset {
    with_copy(exchange("415-202"), |record| {
        let Record::Exchange(model) = record else { panic!() };
        let copy = |nxx: u16| {
            let mut exchange = model.clone();
            exchange.nxx = nxx.to_string().parse().unwrap();
            exchange.rate_center = Some(rate_center.to_owned());
            Record::Exchange(exchange)
        };
        (300..300 + count).map(copy).collect()
    })
}

#[tokio::test]
async fn a_request_is_charged_before_it_reads_more_than_sixteen_records() {
    let keys = |range: std::ops::Range<u32>| range.map(|nxx| exchange(&format!("415-{nxx}")));
    for (per_day, records, fits) in [(1, 16, true), (1, 17, false), (2, 32, true), (2, 33, false)] {
        let versions = vec![with_exchanges(40, "EAST"), with_exchanges(40, "WEST")];
        let (AppWithHistory { app, table, .. }, start) = published(versions).await;
        let past = paid_past(&app, start, per_day).await;
        table.take_calls();
        // Two reads, whose charges add up.
        assert_eq!(past.records(keys(300..310)).await.unwrap().len(), 10);
        let rest = past.records(keys(310..300 + records)).await;
        assert_eq!(rest.is_ok(), fits, "{per_day} {records}");
        let reads = table.take_calls();
        let reads = reads.iter().filter(|call| call.starts_with("BatchGetItem")).count();
        assert_eq!(reads, if fits { 2 } else { 1 }, "nothing is read that is not paid");
    }
}

/// The response needs a dataset of all the exchanges, even if only a few records are read.
#[tokio::test]
async fn whole_area_code_counts_as_one_request_per_256_exchanges() {
    // The small dataset has five.
    for (count, per_day, fits) in [(251, 1, true), (252, 1, false), (252, 2, true)] {
        let versions = vec![with_exchanges(count, "EAST"), with_exchanges(count + 1, "EAST")];
        let (AppWithHistory { app, .. }, start) = published(versions).await;
        let found = paid_past(&app, start, per_day).await.dataset(area_code("415")).await;
        assert_eq!(found.is_ok(), fits, "{count} {per_day}");
    }
}
