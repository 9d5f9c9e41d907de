//! A random walk of imports and rollbacks, one every midnight. Afterward, past data and changes match the results of
//! plain loops over the reports' rows. The publishing model rebuilds every version from the differences.
//!
//! `TNR_WALK_SEED` repeats a run.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
};

use axum::Router;
use ingest::{Options, Outcome, ingest, rollback};
use jiff::{ToSpan, civil::Date, tz::TimeZone};
use numbering::{
    records::Version,
    time::{date_of, today},
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use serde_json::Value;
use shared::state::App;
use store::{Publication, Store};

use self::rows::{Change, NPAS, NXXS, OCNS, Rows};
use crate::{
    api::lists::next_page,
    support::{
        databases,
        function_calls::{api, get, send, text},
        imports::without_gates,
        processes::setting,
        service::header,
    },
};

mod rows;

const NIGHTS: usize = 120;
/// The maximum number of publications that one changes request covers.
const MAX_PUBLICATIONS: usize = 100;
/// The number of random requests to compare each night.
const REQUESTS_PER_NIGHT: usize = 3;

/// The API with nothing in memory.
fn fresh_api(store: &Store) -> Router {
    api(App::with_store(store.clone()))
}

async fn ok(api: &Router, target: &str) -> Value {
    let (status, body) = get(api, target).await;
    assert_eq!(status, 200, "{target}: {body}");
    body
}

/// Every row of a list, page by page, following its links.
async fn all_pages(api: &Router, target: &str, list: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut next = Some(target.to_owned());
    while let Some(target) = next.take() {
        let response = send(api, &target).await;
        next = next_page(header(response.headers(), "link"));
        let page: Value = serde_json::from_str(&text(response).await).unwrap();
        rows.extend_from_slice(page[list].as_array().unwrap_or_else(|| panic!("{target}: {page}")));
    }
    rows
}

/// A lookup whose response does not depend on today's date, in its path or query form.
fn random_lookup(random: &mut StdRng) -> String {
    let (npa, nxx) = (NPAS.choose(random).unwrap(), NXXS.choose(random).unwrap());
    match random.random_range(0..6) {
        0 => format!("/v1/carrier/{}?", OCNS.choose(random).unwrap()),
        1 => format!("/v1/npa/{npa}?limit=100"),
        2 => format!("/v1/npa?npa={npa}&nxx={nxx}"),
        3 => format!("/v1/lookup/689{nxx}1234?"),
        4 => "/v1/area-codes/689?".to_owned(),
        _ => format!("/v1/format/+1689{nxx}1234?include=line,assignment"),
    }
}

/// A night, on which a version may have been published.
struct Night {
    date: Date,
    publication: Publication,
    rows: Rows,
    responses: Vec<(String, (u16, Value))>,
}

async fn walk(store: &Store, random: &mut StdRng) -> Vec<Night> {
    let first = today() - (NIGHTS as i64 + 20).days();
    let midnight = first.to_zoned(TimeZone::UTC).unwrap().timestamp();
    let (mut rows, mut by_version) = (Rows::first(), HashMap::<Version, Rows>::new());
    let mut nights: Vec<Night> = Vec::new();
    let long_running = fresh_api(store);
    for night in 0..NIGHTS {
        let now = midnight + (24 * night as i64).hours();
        let options = Options { now, ..without_gates() };
        if night > 0 && random.random_bool(0.25) {
            // Fails without an older version.
            _ = rollback(store, None, options, |_| ()).await;
        } else {
            // If more nights had no changes, there might be too few publications below.
            if random.random_bool(0.95) {
                rows.change(random, date_of(now));
            }
            let report = ingest(store, &rows.sources(), options, |_| ()).await.unwrap();
            assert!(matches!(report.outcome, Outcome::Published | Outcome::Unchanged));
            by_version.insert(report.version.unwrap(), rows.clone());
        }
        let manifest = store.manifest().await.unwrap().unwrap();
        let current = &by_version[&manifest.current.version];
        let fresh = fresh_api(store);
        let mut responses = Vec::new();
        for _ in 0..REQUESTS_PER_NIGHT {
            let target = random_lookup(random);
            let response = get(&fresh, &target).await;
            responses.push((format!("{target}&as_of={}", date_of(now)), response));
        }
        let night = Night {
            date: date_of(now),
            publication: manifest.publication,
            rows: current.clone(),
            responses,
        };
        follow(&long_running, nights.last(), &night).await;
        nights.push(night);
    }
    nights
}

/// Asks a server that runs throughout all imports for a night's changes, like a client that polls for them.
async fn follow(long_running: &Router, before: Option<&Night>, night: &Night) {
    let id = &night.publication.id;
    // This tells the server about the publication before it next reads the manifest.
    let since = ok(long_running, &format!("/v1/changes?since={id}")).await;
    assert_eq!(since["until"]["publication"], id.as_str());
    assert!(since["is_current"] == true && since["changes"].as_array().unwrap().is_empty());
    let Some(before) = before else { return };
    let target = format!("/v1/changes?since={}&kind=exchange&limit=100", before.publication.id);
    let changes = ok(long_running, &target).await;
    let is_new = before.publication != night.publication;
    let expected = if is_new { Rows::changes(&before.rows, &night.rows) } else { Vec::new() };
    assert_eq!(changes["until"]["publication"], id.as_str());
    let found = changes["changes"].as_array().unwrap();
    assert_eq!(found.len(), expected.len(), "{target}: {found:?}, expected {expected:?}");
}

/// The changes to exchanges, oldest first, each with its publication.
fn expected_changes(nights: &[Night]) -> Vec<(&Publication, Change)> {
    let mut changes = Vec::new();
    for [before, after] in nights.array_windows() {
        if before.publication == after.publication {
            assert!(Rows::changes(&before.rows, &after.rows).is_empty());
            continue;
        }
        for change in Rows::changes(&before.rows, &after.rows) {
            changes.push((&after.publication, change));
        }
    }
    changes
}

/// Asserts that a row describes this change, with the same values for the fields that plain rows have.
fn assert_describes(row: &Value, (publication, change): &(&Publication, Change)) {
    let context = format!("{change:?} {row}");
    assert_eq!(row["publication"], publication.id.as_str(), "{context}");
    assert_eq!(row["version"], publication.version.as_str(), "{context}");
    assert_eq!(row["published_at"], publication.at.to_string(), "{context}");
    assert_eq!((&row["key"], &row["change"]), (&change.key().into(), &change.kind().into()));
    for (name, before, after) in change.fields() {
        let field = &row["fields"][name];
        assert_eq!(field.is_null(), before == after, "{name}: {context}");
        if before != after {
            assert_eq!((&field["before"], &field["after"]), (&before, &after), "{context}");
        }
    }
}

async fn assert_changes(api: &Router, nights: &[Night]) {
    let expected = expected_changes(nights);
    let since = format!("/v1/changes?since={}", nights[0].date);
    let is_held = |change: &Change, ocn| change.versions().any(|it| it.is_held_by(ocn));
    let in_state = |change: &Change, state| change.versions().any(|it| it.state == state);
    type Filter<'a> = (&'a str, &'a dyn Fn(&Change) -> bool);
    let filters: [Filter<'_>; 7] = [
        ("", &|_| true),
        ("&npa=689", &|change| change.npa == "689"),
        ("&ocn=2222", &|change| is_held(change, "2222")),
        ("&state=GA", &|change| in_state(change, "GA")),
        ("&change=added", &|change| change.kind() == "added"),
        ("&change=removed&npa=407", &|change| change.kind() == "removed" && change.npa == "407"),
        ("&change=changed&ocn=1111&state=GA", &|change| {
            change.kind() == "changed" && is_held(change, "1111") && in_state(change, "GA")
        }),
    ];
    for (filter, matches) in filters {
        let matching: Vec<_> = expected.iter().filter(|(_, change)| matches(change)).collect();
        assert!(!matching.is_empty(), "{filter}");
        // Small pages, and more publications than one request covers.
        for limit in [100, 7].into_iter().filter(|limit| *limit == 100 || matching.len() < 60) {
            let target = format!("{since}&kind=exchange{filter}&limit={limit}");
            let found = all_pages(api, &target, "changes").await;
            assert_eq!(found.len(), matching.len(), "{target}");
            for (row, expected) in found.iter().zip(&matching) {
                assert_describes(row, expected);
            }
        }
    }
    // A feed contains the newest publications, up to the limit. Changes within a publication stay in order.
    let publications: BTreeSet<_> = expected.iter().map(|(it, _)| it.number).collect();
    assert!(publications.len() > MAX_PUBLICATIONS, "{}", publications.len());
    let feed = text(send(api, &format!("{since}&kind=exchange&format=atom&limit=10")).await).await;
    let ids = feed.split("<entry>").skip(1).map(|entry| entry.split("</id>").next().unwrap());
    let mut newest: Vec<_> = expected.iter().collect();
    newest.sort_by_key(|(publication, _)| Reverse(publication.number));
    let paths = newest.iter().take(10).map(|(publication, Change { npa, nxx, .. })| {
        format!("/v1/npa/{npa}/nxx/{nxx}/history#{}", publication.id)
    });
    let (ids, paths): (Vec<_>, Vec<_>) = (ids.collect(), paths.collect());
    assert_eq!(ids.len(), paths.len(), "{feed}");
    for (id, path) in ids.iter().zip(&paths) {
        assert!(id.ends_with(path), "{id}, expected {path}");
    }
    for (npa, nxx) in [("407", "200"), ("689", "205")] {
        let of_record =
            expected.iter().filter(|(_, change)| (change.npa, change.nxx) == (npa, nxx));
        let target = format!("/v1/npa/{npa}/nxx/{nxx}/history?limit=3");
        let mut found = all_pages(api, &target, "changes").await;
        found.reverse();
        assert_eq!(found.len(), of_record.clone().count(), "{target}");
        for (row, expected) in found.iter().zip(of_record) {
            assert_describes(row, expected);
        }
    }
}

/// Compares a random night's data with its rows: exchanges page by page, and blocks by date.
async fn assert_night(api: &Router, night: &Night, random: &mut StdRng) {
    let Night { date, publication, rows, .. } = night;
    let npa = *NPAS.choose(random).unwrap();
    let expected: Vec<_> = rows.exchanges_in(npa).collect();
    let target = format!("/v1/npa/{npa}?limit=2&as_of={date}");
    let first = send(api, &target).await;
    if expected.len() > 2 {
        let link = first.headers()["link"].to_str().unwrap();
        let pinned = publication.at.to_string().replace(':', "%3A");
        assert!(link.contains(&format!("as_of={pinned}")), "{target}: {link}, expected {pinned}");
    }
    let first: Value = serde_json::from_str(&text(first).await).unwrap();
    assert_eq!(first["pagination"]["total"], expected.len(), "{target}");
    let found = all_pages(api, &target, "exchanges").await;
    assert_eq!(found.len(), expected.len(), "{target}");
    for (found, (nxx, row)) in found.iter().zip(expected) {
        assert_eq!((&found["nxx"], &found["ocn"]), (&nxx.into(), &row.ocn.into()), "{target}");
        assert_eq!(found["company_name"], row.name, "{target}");
        assert_eq!(found["rate_center"], row.place, "{target}");
        let target = format!("/v1/npa/{npa}/nxx/{nxx}/blocks?as_of={date}");
        let blocks = ok(api, &target).await;
        assert_eq!(blocks["is_pooled"], !row.blocks.is_empty(), "{target}");
        for (digit, block) in blocks["blocks"].as_array().unwrap().iter().enumerate() {
            let held = row.blocks.iter().find(|held| usize::from(held.digit) == digit);
            let (status, ocn) = match held {
                _ if row.blocks.is_empty() => ("ASSIGNED", Value::from(row.ocn)),
                None => ("UNASSIGNED", Value::Null),
                Some(held) if held.effective <= *date => ("ASSIGNED", Value::from(held.ocn)),
                Some(held) => ("UNASSIGNED", Value::from(held.ocn)),
            };
            assert_eq!(
                (&block["status"], &block["ocn"]),
                (&status.into(), &ocn),
                "{target} {digit}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn past_responses_do_not_change_after_120_imports_and_rollbacks() {
    let seed = setting("TNR_WALK_SEED").unwrap_or_else(rand::random);
    println!("TNR_WALK_SEED={seed}");
    let random = &mut StdRng::seed_from_u64(seed);
    let database = databases::empty().await;
    let store = &database.store();
    let nights = walk(store, random).await;

    let api = fresh_api(store);
    for (target, response) in nights.iter().flat_map(|night| &night.responses) {
        assert_eq!(get(&api, target).await, *response, "{target}");
    }
    for night in nights.iter().step_by(6) {
        assert_night(&api, night, random).await;
    }
    assert_changes(&api, &nights).await;

    let before = nights[0].date.yesterday().unwrap();
    for target in [
        format!("/v1/carrier/1111?as_of={before}"),
        format!("/v1/npa/407?as_of={before}"),
        format!("/v1/format/+14072001234?as_of={before}"),
        format!("/v1/changes?since={before}"),
    ] {
        let (status, body) = get(&api, &target).await;
        let rule =
            format!("must be {} or later, when the history begins", nights[0].publication.at);
        assert!(status == 400 && body["message"].as_str().unwrap().contains(&rule), "{body}");
    }
}
