//! `ETag` and `If-None-Match`.

use futures_util::future::join_all;
use ingest::Options;
use reqwest::StatusCode;

use crate::support::{
    endpoints::endpoints,
    imports::import,
    service::{KEY, Service, header, shared_service},
    small_reports::ReportSet,
};

#[tokio::test]
async fn every_endpoint_returns_304_if_the_etag_matches() {
    let service = shared_service();
    let examples = endpoints().into_iter().map(|endpoint| endpoint.example());
    for example in examples.filter(|example| example.method == "GET") {
        let target = &example.target;
        let request = || service.request_like(&example, target).bearer_auth(KEY);
        let first = request().send().await.unwrap();
        let tag = header(first.headers(), "etag").to_owned();
        assert!(tag.starts_with("W/\"") && tag.len() == 36, "{target}: {tag}");
        let response = request().header("if-none-match", &tag).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::NOT_MODIFIED, "{target}");
        for name in ["etag", "vary", "cache-control", "link", "x-data-version"] {
            let [found, expected] = [&response, &first].map(|it| header(it.headers(), name));
            assert_eq!(found, expected, "{target}: {name}");
        }
        // A length would be that of the 200 response.
        for name in ["content-type", "content-length", "content-encoding"] {
            assert_eq!(header(response.headers(), name), "", "{target}: {name}");
        }
        assert!(response.bytes().await.unwrap().is_empty(), "{target}");
    }
}

#[tokio::test]
async fn a_new_data_version_changes_every_etag() {
    let service = Service::with_small_reports().await;
    let paths = ["/v1/carriers?limit=1", "/v1/npa/415?limit=1", "/v1/stats"];
    let tags = async |service: &Service| {
        let responses = join_all(paths.map(|path| service.get(path))).await;
        let tags = responses.iter().map(|it| header(it.headers(), "etag").to_owned());
        tags.collect::<Vec<_>>()
    };
    let before = tags(&service).await;
    let store = service.database.store();
    import(&store, &ReportSet::second(), Options::default()).await.unwrap();
    let after = tags(&service.restart().await).await;
    assert!(before.iter().zip(&after).all(|(before, after)| before != after), "{before:?}");
}
