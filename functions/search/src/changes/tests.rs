//! Tests routes without a database, and the formats of a page.

use insta::assert_snapshot;
use jiff::ToSpan;
use numbering::{
    changes::RecordPair,
    dataset::Dataset,
    records::{Exchange, Record},
    time::{date_of, this_second},
};
use serde_json::Value;
use shared::public_address::PublicAddress;
use test_api::{AppWithHistory, TestApi, app_with_history, changed_dataset, small_dataset};

use super::*;
use crate::routes;

#[tokio::test]
async fn errors_state_the_rule_and_the_value() {
    // The last two read the database, which is unreachable, because past data is not in memory.
    let api = TestApi::new(routes());
    assert_snapshot!(api.rejections(include_str!("rejected.txt").lines()).await);
}

/// Formats a page where an exchange moved to another rate center and another was removed. Returns the `Link` header and
/// the body.
async fn written(format: ChangesFormat) -> String {
    let publication = |id: &str, at: &str| Publication {
        id: Version::parse(id).unwrap(),
        version: Version::parse(id).unwrap(),
        number: 1,
        at: at.parse().unwrap(),
        ends_at: None,
    };
    let earlier = publication("20261120T090003Z-5fGh2kLmN8pQrS1t", "2026-11-20T09:00:41Z");
    let later = publication("20261121T090003Z-Zx8WvU3tSrQpOn6m", "2026-11-21T09:00:38Z");
    let state = "CA".parse().ok();
    let exchange = |rate_center: &str| {
        let rate_center = Some(rate_center.to_owned());
        Record::Exchange(Exchange { rate_center, state, ..Exchange::sample("415-208") })
    };
    let change = |before: &str, after: Option<&str>| {
        let (before, after) = (exchange(before), after.map(exchange));
        let pair = RecordPair { key: before.key(), before: Some(before), after };
        ChangeRow::new(&later, &pair).unwrap()
    };
    let list = ChangeList {
        since: (&earlier).into(),
        until: (&later).into(),
        is_current: false,
        history_begins_at: Some(earlier.at),
        changes: vec![change("SNFC <CNTRL>", Some("=SAN RAFAEL")), change("SNFC", None)],
        pagination: Pagination { limit: 50, offset: 50, total: 52 },
    };
    let uri: Uri = "/v1/changes?npa=415&offset=50&apiKey=secret".parse().unwrap();
    let address = PublicAddress(Some("https://a.example/base".to_owned()));
    let title = "Numbering changes: area code 415";
    let response = output::response(format, address, &uri, title, list);
    let link = response.headers()["link"].to_str().unwrap().to_owned();
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    format!("{link}\n\n{}", String::from_utf8_lossy(&body))
}

#[tokio::test]
async fn each_format_has_the_same_changes_and_links_without_the_key() {
    for format in
        [ChangesFormat::Json, ChangesFormat::Csv, ChangesFormat::Ndjson, ChangesFormat::Atom]
    {
        let written = written(format).await;
        assert!(!written.contains("secret"), "{written}");
        assert_snapshot!(format!("{format:?}"), written);
    }
}

/// Three versions, a day apart: an exchange moves and a carrier is renamed, then another exchange is removed. The first
/// version is this many days old.
async fn history(days_ago: i64) -> AppWithHistory {
    let moved = changed_dataset(|record| match (record.key().to_string().as_str(), record) {
        ("415-200", Record::Exchange(it)) => it.rate_center = Some("RICHMOND".to_owned()),
        ("8821", Record::Carrier(it)) => it.common_name = Some("Renamed".to_owned()),
        _ => (),
    });
    let is_left = |record: &Record| record.key().to_string() != "416-234";
    let removed = Dataset::from_records(moved.records().filter(is_left));
    let versions = vec![small_dataset(), moved, removed];
    app_with_history(this_second() - (24 * days_ago).hours(), versions).await
}

async fn publications(app: &App) -> [Publication; 3] {
    let history = app.history().await.unwrap();
    [0, 1, 2].map(|position| history.publication(position).unwrap().clone())
}

fn listed(page: &Value) -> Vec<String> {
    let changes = page["changes"].as_array().unwrap().iter();
    changes.map(|row| format!("{} {}", row["key"], row["change"]).replace('"', "")).collect()
}

const EXPECTED: [&str; 3] = ["8821 changed", "415-200 changed", "416-234 removed"];

/// The end-to-end tests compare filters and pages of several sizes with the reports.
#[tokio::test]
async fn only_publications_that_may_contain_a_match_are_read() {
    let AppWithHistory { app, table, .. } = history(10).await;
    let api = TestApi::on(routes(), app);
    let last = api.get("/v1/changes", &[]).await;
    assert!(!last.headers.contains_key("link"), "the changes are current: {last:?}");
    // The publications are in memory, and no other one can contain a match.
    table.take_calls();
    for (target, queries) in [
        ("/v1/changes?npa=212", 0),
        ("/v1/changes?change=added", 0),
        ("/v1/changes?npa=416", 1),
        ("/v1/changes?limit=1&offset=2", 1),
        ("/v1/changes?limit=1&offset=1", 1),
        ("/v1/changes?limit=2&offset=1", 2),
        ("/v1/changes?limit=100&offset=3", 0),
    ] {
        api.ok(target).await;
        assert_eq!(table.take_calls().len(), queries, "{target}");
    }
}

#[tokio::test]
async fn changes_start_after_the_requested_publication_date_or_time() {
    let AppWithHistory { app, manifest, .. } = history(31).await;
    let [first, second, third] = publications(&app).await;
    let api = TestApi::on(routes(), app);
    let date = |publication: &Publication| date_of(publication.at);
    for (since, from) in [
        // The second publication is 30 days old, so the third is newer.
        (String::new(), 2),
        (format!("since={}", first.id), 0),
        (format!("since={}", second.id), 2),
        (format!("since={}", third.id), 3),
        (format!("since={}", first.at), 0),
        (format!("since={}", second.at - 1.second()), 0),
        (format!("since={}", second.at), 2),
        // A date means the start of the day, and the history starts on the first date.
        (format!("since={}", date(&first)), 0),
        (format!("since={}", date(&second)), 0),
        (format!("since={}", date(&third)), 2),
    ] {
        let page = api.ok(&format!("/v1/changes?{since}")).await;
        assert_eq!(listed(&page), EXPECTED[from..], "{since}");
        assert_eq!(page["until"]["publication"], manifest.publication.id.as_str());
        assert_eq!(page["is_current"], true);
    }
    let too_early = [
        format!("/v1/changes?since={}", first.at - 1.second()),
        format!("/v1/changes?since={}", date(&first).yesterday().unwrap()),
        format!("/v1/changes?since={}", Version::new(first.at)),
    ];
    for target in too_early {
        assert_eq!(api.get(&target, &[]).await.status.as_u16(), 400, "{target}");
    }
}

#[tokio::test]
async fn feed_is_newest_first_and_accept_selects_the_format() {
    let api = TestApi::on(routes(), history(10).await.app);
    // Older changes are known to exist, but are not counted.
    for (page, titles, has_next) in [
        ("limit=1", &["exchange 416-234 removed"][..], true),
        ("limit=2", &["exchange 416-234 removed", "carrier 8821 changed"], true),
        ("limit=1&offset=1", &["carrier 8821 changed"], true),
        ("limit=2&offset=1", &["carrier 8821 changed", "exchange 415-200 changed"], false),
        ("limit=3", &["exchange 416-234", "carrier 8821", "exchange 415-200"], false),
    ] {
        let accept = [("accept", "application/atom+xml")];
        let feed = api.get(&format!("/v1/changes?{page}"), &accept).await;
        assert_eq!(feed.headers["content-type"], "application/atom+xml");
        let link = feed.headers.get("link").map_or("", |link| link.to_str().unwrap());
        assert_eq!(link.contains("rel=\"next\""), has_next, "{page}: {link}");
        let feed = String::from_utf8(feed.body.to_vec()).unwrap();
        let entries: Vec<_> = feed.split("<entry><title>").skip(1).collect();
        assert_eq!(entries.len(), titles.len(), "{page}: {feed}");
        for (entry, title) in entries.iter().zip(titles) {
            assert!(entry.starts_with(title), "{page}: {entry}");
            let is_carrier = title.starts_with("carrier");
            assert_eq!(entry.contains("href=\"/v1/carrier/8821/history\""), is_carrier, "{entry}");
        }
    }
    for (accept, start) in
        [("text/csv", "publication,version,"), ("application/x-ndjson", "{\"publication\":")]
    {
        let page = api.get("/v1/changes", &[("accept", accept)]).await;
        let body = String::from_utf8(page.body.to_vec()).unwrap();
        assert!(body.starts_with(start) && body.lines().count() > 2, "{body}");
    }
}

#[tokio::test]
async fn record_history_is_newest_first() {
    let api = TestApi::on(routes(), history(10).await.app);
    for (target, expected) in [
        ("/v1/npa/416/nxx/234/history", &[EXPECTED[2]][..]),
        ("/v1/carrier/8821/history", &[EXPECTED[0]]),
        ("/v1/npa/416/nxx/234/history?offset=1", &[]),
        // This carrier did not change.
        ("/v1/carrier/9740/history", &[]),
    ] {
        assert_eq!(listed(&api.ok(target).await), expected, "{target}");
    }
    let missing = api.get("/v1/npa/416/nxx/999/history", &[]).await;
    assert_eq!(missing.status.as_u16(), 404);
}
