use std::collections::BTreeSet;

use serde_json::{Value, json};

use ingest::Options;

use crate::{
    service::{Service, shared_service},
    small_set::Texts,
};

/// Walks a list by `limit` and gives its items; every page has to tell the same total.
pub async fn walk(service: &Service, path: &str, items: &str, limit: usize) -> Vec<Value> {
    let (mut all, mut offset) = (Vec::new(), 0);
    let joint = if path.contains('?') { '&' } else { '?' };
    let mut total = None;
    loop {
        let body = service.ok(&format!("{path}{joint}limit={limit}&offset={offset}")).await;
        assert_eq!(body["pagination"]["limit"], limit);
        assert_eq!(body["pagination"]["offset"], offset);
        let of_page = body["pagination"]["total"].as_u64().unwrap() as usize;
        assert_eq!(*total.get_or_insert(of_page), of_page, "{path} at {offset}");
        all.extend(body[items].as_array().unwrap().iter().cloned());
        offset += limit;
        if offset >= of_page {
            assert_eq!(all.len(), of_page, "{path} by {limit}");
            return all;
        }
    }
}

/// Walks a list by 1, 7, 50 and 100: every record once, in one order.
pub async fn assert_walks_agree(service: &Service, path: &str, items: &str) {
    let by_hundred = walk(service, path, items, 100).await;
    let distinct: BTreeSet<String> = by_hundred.iter().map(Value::to_string).collect();
    assert_eq!(distinct.len(), by_hundred.len(), "{path}");
    for limit in [1, 7, 50] {
        assert_eq!(walk(service, path, items, limit).await, by_hundred, "{path} by {limit}");
    }
}

#[tokio::test]
async fn walking_pages_gives_every_record_once_in_one_order() {
    let service = shared_service();
    assert_walks_agree(service, "/v1/npa/416", "exchanges").await;
    assert_walks_agree(service, "/v1/carriers", "carriers").await;
    assert_walks_agree(service, "/v1/search?q=sample%20wireless", "results").await;
}

#[tokio::test]
async fn limit_defaults_to_50_and_is_coerced_to_100() {
    let service = shared_service();
    for (path, items) in [
        ("/v1/carriers?", "carriers"),
        ("/v1/npa/415?", "exchanges"),
        ("/v1/search?npa=415&", "results"),
    ] {
        for (query, limit) in [
            ("", 50),
            ("limit=1", 1),
            ("limit=100", 100),
            ("limit=101", 100),
            ("limit=99999999999999999999", 100),
        ] {
            let body = service.ok(&format!("{path}{query}")).await;
            assert_eq!(body["pagination"]["limit"], limit, "{path}{query}");
            assert_eq!(body[items].as_array().unwrap().len(), limit, "{path}{query}");
        }
    }
}

#[tokio::test]
async fn a_page_beyond_the_end_is_empty_and_knows_the_total() {
    let body = shared_service().ok("/v1/carriers?offset=100000").await;
    assert_eq!(body["carriers"], json!([]));
    assert_eq!(body["pagination"], json!({ "limit": 50, "offset": 100000, "total": 165 }));
}

#[tokio::test]
async fn links_lead_through_the_whole_list() {
    let service = shared_service();
    let mut path = "/v1/carriers?limit=50&state=&country=US".to_owned();
    let mut seen = 0;
    loop {
        let response = service.get(&path).await;
        let link = response.headers().get("link").map(|link| link.to_str().unwrap().to_owned());
        let body: Value = response.json().await.unwrap();
        seen += body["carriers"].as_array().unwrap().len();
        let next = link
            .iter()
            .flat_map(|link| link.split(", "))
            .find(|link| link.ends_with("rel=\"next\""));
        match next {
            Some(next) => path = next[1..next.find('>').unwrap()].to_owned(),
            None => {
                assert_eq!(body["pagination"]["total"], seen);
                break;
            }
        }
    }
}

#[tokio::test]
async fn limit_and_offset_errors() {
    let service = shared_service();
    for path in [
        "/v1/carriers?",
        "/v1/npa/415?",
        "/v1/npa/415/nxx/234?",
        "/v1/npa?npa=415&",
        "/v1/search?npa=415&",
    ] {
        for (query, message) in [
            ("limit=0", "limit must be a positive integer, got '0'"),
            ("limit=-5", "limit must be a positive integer, got '-5'"),
            ("limit=ten", "limit must be a positive integer, got 'ten'"),
            ("limit=1.5", "limit must be a positive integer, got '1.5'"),
            ("offset=-1", "offset must be a non-negative integer, got '-1'"),
            ("limit=1&limit=2", "limit must be given once, got '1' and '2'"),
        ] {
            service.assert_error(&format!("{path}{query}"), 400, "invalid_request", message).await;
        }
    }
}

/// The path that `Link` gives to the page of this relation.
fn linked(response: &reqwest::Response, relation: &str) -> Option<String> {
    let links = response.headers().get("link")?.to_str().unwrap();
    let link = links.split(", ").find(|link| link.ends_with(&format!("rel=\"{relation}\"")))?;
    Some(link.trim_start_matches('<').split('>').next().unwrap().to_owned())
}

#[tokio::test]
async fn a_walk_by_its_links_sees_one_version_across_a_flip() {
    let mut service = Service::empty().await;
    let import = async |service: &Service, texts: &Texts| {
        let store = service.database.store();
        ingest::ingest(&store, &texts.sources(), Options::default(), |_| ()).await.unwrap();
    };
    import(&service, &Texts::first()).await;
    for (first, items) in [
        ("/v1/npa/415?limit=10", "exchanges"),
        ("/v1/carriers?limit=10", "carriers"),
        ("/v1/search?q=sample&limit=10", "results"),
    ] {
        let before = walk(
            &service,
            first.split("limit").next().unwrap().trim_end_matches(['?', '&']),
            items,
            100,
        )
        .await;
        let (mut next, mut seen) = (Some(first.to_owned()), Vec::new());
        while let Some(path) = next {
            let response = service.get(&path).await;
            next = linked(&response, "next");
            let body: Value = response.json().await.unwrap();
            seen.extend(body[items].as_array().unwrap().iter().cloned());
            if seen.len() == 30 {
                // the version changes, and the next page comes from another container
                import(&service, &Texts::second()).await;
                service = service.restarted().await;
            }
        }
        assert_eq!(seen, before, "{first}");
        let texts = Options { allow_older: true, ..Options::default() };
        let store = service.database.store();
        ingest::ingest(&store, &Texts::first().sources(), texts, |_| ()).await.unwrap();
        service = service.restarted().await;
    }
}

#[tokio::test]
async fn a_version_that_is_not_kept_is_refused() {
    let message = "version 'old' is no longer available; \
                   restart pagination without the version parameter";
    let path = "/v1/carriers?version=old";
    shared_service().assert_error(path, 400, "invalid_request", message).await;
}
