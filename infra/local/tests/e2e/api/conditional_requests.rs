//! `ETag` and `If-None-Match`.

use ingest::Options;
use reqwest::{Method, StatusCode};

use crate::support::{
    endpoints::endpoints,
    imports::import,
    keys::key_with_quotas,
    service::{KEY, Service, header, shared_service},
    small_reports::ReportSet,
};

async fn etag_for(service: &Service, path: &str) -> String {
    header(service.get(path).await.headers(), "etag").to_owned()
}

#[tokio::test]
async fn every_endpoint_returns_304_if_the_etag_matches() {
    let service = shared_service();
    let examples = endpoints().into_iter().map(|endpoint| endpoint.example());
    for example in examples.filter(|example| example.method == "GET") {
        let target = &example.target;
        let request = || service.request_like(&example, target).bearer_auth(KEY);
        let get_unless =
            async |tags: &str| request().header("if-none-match", tags).send().await.unwrap();
        let first = request().send().await.unwrap();
        let tag = header(first.headers(), "etag").to_owned();
        assert!(tag.starts_with("W/\"") && tag.len() == 36, "{target}: {tag}");
        let strong = tag.trim_start_matches("W/");
        for tags in [&tag, strong, "*", &format!("\"other\", W/\"x,y\" , {tag}")] {
            let response = get_unless(tags).await;
            assert_eq!(response.status(), StatusCode::NOT_MODIFIED, "{target}: {tags}");
            for name in ["etag", "vary", "cache-control", "link", "x-data-version"] {
                let [found, expected] = [&response, &first].map(|it| header(it.headers(), name));
                assert_eq!(found, expected, "{target}: {name}");
            }
            for name in ["content-type", "content-length", "content-encoding"] {
                assert_eq!(header(response.headers(), name), "", "{target}: {name}");
            }
            assert!(response.bytes().await.unwrap().is_empty(), "{target}");
        }
        let other = get_unless("\"other\", W/\"\"").await;
        let found = (other.status(), header(other.headers(), "etag"));
        assert_eq!(found, (StatusCode::OK, tag.as_str()));
    }
}

#[tokio::test]
async fn etags_depend_on_the_url_but_not_on_key_or_method() {
    let service = shared_service();
    let tag = etag_for(service, "/v1/npa/415?limit=5").await;
    assert_eq!(etag_for(service, &format!("/v1/npa/415?limit=5&apiKey={KEY}")).await, tag);
    assert_ne!(etag_for(service, "/v1/npa/415?limit=6").await, tag);
    let head = service.request_with(Method::HEAD, "/v1/npa/415?limit=5").bearer_auth(KEY);
    let conditional = head.try_clone().unwrap().header("if-none-match", &tag).send().await.unwrap();
    assert_eq!(header(head.send().await.unwrap().headers(), "etag"), tag);
    assert_eq!(conditional.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(
        header(conditional.headers(), "content-length"),
        "",
        "it would be the length of the 200 response"
    );
}

/// Some paths have the same body in both versions, but `Link` differs.
#[tokio::test]
async fn a_new_data_version_changes_every_etag() {
    let service = Service::with_small_reports().await;
    let paths = ["/v1/carriers?limit=1", "/v1/npa/415?limit=1", "/v1/stats"];
    let mut before = Vec::new();
    for path in paths {
        before.push((etag_for(&service, path).await, service.ok(path).await));
    }
    let store = service.database.store();
    import(&store, &ReportSet::second(), Options::default()).await.unwrap();
    let service = service.restart().await;
    let mut same_bodies = 0;
    for (path, (tag, body)) in paths.iter().zip(before) {
        same_bodies += u8::from(service.ok(path).await == body);
        let response = service.get_with(path, "if-none-match", &tag).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_ne!(header(response.headers(), "etag"), tag, "{path}");
    }
    assert!(same_bodies > 0, "no path has the same body in both versions");
}

#[tokio::test]
async fn conditional_requests_need_a_key_and_count_against_its_quota() {
    let service = shared_service();
    let without_key = service.request("/v1/npa/415").header("if-none-match", "*");
    let rejected = without_key.send().await.unwrap();
    let (status, tag) = (rejected.status(), header(rejected.headers(), "etag"));
    assert_eq!((status, tag), (StatusCode::UNAUTHORIZED, ""), "errors have no ETag");

    let key = key_with_quotas(&service.database.store(), None, Some(2)).await;
    for (remaining, status) in [("1", 304), ("0", 304), ("0", 429)] {
        let request = service.request("/v1/npa/415").bearer_auth(key.reveal());
        let response = request.header("if-none-match", "*").send().await.unwrap();
        assert_eq!(response.status(), status);
        assert_eq!(header(response.headers(), "x-ratelimit-remaining"), remaining);
    }
}
