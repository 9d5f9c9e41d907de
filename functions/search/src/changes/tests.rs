//! Route tests without a database, and the formats of a page.

use insta::assert_snapshot;
use numbering::{
    changes::RecordPair,
    records::{Exchange, Record, RecordKey},
};
use serde_json::json;
use shared::public_address::PublicAddress;
use test_api::TestApi;

use super::*;
use crate::routes;

#[tokio::test]
async fn errors_state_the_rule_and_the_value() {
    let api = TestApi::new(routes());
    let errors = api.rejections([
        "/v1/changes?since=last+week",
        "/v1/changes?since=2026-02-30",
        "/v1/changes?since=9999-12-31",
        "/v1/changes?npa=1",
        "/v1/changes?ocn=1",
        "/v1/changes?state=ZZ",
        "/v1/changes?kind=rate_center",
        "/v1/changes?change=moved",
        "/v1/changes?format=xml",
        "/v1/changes?limit=0",
        "/v1/npa/415/nxx/2/history",
        "/v1/npa/4/nxx/234/history",
        "/v1/carrier/60/history",
        // The database is unreachable, and the past is not in memory.
        "/v1/changes",
        "/v1/carrier/6529/history",
    ]);
    assert_snapshot!(errors.await);
}

/// A page with an exchange that moved to another rate center, and one that was removed.
fn page() -> ChangeList {
    let version = |text: &str| Version::parse(text).unwrap();
    let [earlier, later] =
        ["20261120T090003Z-5fGh2kLmN8pQrS1t", "20261121T090003Z-Zx8WvU3tSrQpOn6m"];
    let published = |name: &str, time: &str| PublishedVersion {
        publication: version(name),
        version: version(name),
        published_at: time.parse().unwrap(),
    };
    let exchange = |rate_center: &str| -> Exchange {
        serde_json::from_value(json!({
            "npa": "415", "nxx": "208", "rate_center": rate_center, "state": "CA", "country": "US",
            "status": "ASSIGNED",
        }))
        .unwrap()
    };
    let change = |before: Option<&str>, after: Option<&str>| {
        let [before, after] = [before, after].map(|it| it.map(exchange).map(Record::Exchange));
        let key = RecordKey::Exchange("415-208".parse().unwrap());
        let publication = Publication {
            id: version(later),
            version: version(later),
            number: 1,
            at: "2026-11-21T09:00:38Z".parse().unwrap(),
            ends_at: None,
        };
        ChangeRow::new(&publication, &RecordPair { key, before, after }).unwrap()
    };
    ChangeList {
        since: published(earlier, "2026-11-20T09:00:41Z"),
        until: published(later, "2026-11-21T09:00:38Z"),
        is_current: false,
        changes: vec![
            change(Some("SNFC <CNTRL>"), Some("=SAN RAFAEL")),
            change(Some("SNFC"), None),
        ],
        pagination: Pagination { limit: 50, offset: 50, total: 52 },
    }
}

/// The `Link` header and the body.
async fn written(format: ChangesFormat) -> String {
    let uri: Uri = "/v1/changes?npa=415&offset=50&apiKey=secret".parse().unwrap();
    let feed = FeedAddress::new(PublicAddress::At("https://a.example/base".to_owned()), &uri);
    let response = output::response(format, uri, &feed, "Numbering changes: area code 415", page());
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
