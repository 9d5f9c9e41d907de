//! The page, the documentation and the OpenAPI description.

use reqwest::Response;
use serde_json::{Value, json};
use tnr::openapi;

use crate::support::service::{Service, header, shared_service};

/// The `Accept` header of a browser opening a page.
const BROWSER_ACCEPT: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
/// The size limit of the compressed page, in bytes.
const MAX_PAGE_BYTES: usize = 27_000;

async fn ask(path: &str, accept: &str) -> Response {
    shared_service().request(path).header("accept", accept).send().await.unwrap()
}

#[tokio::test]
async fn browsers_get_the_page_and_other_clients_get_an_index() {
    let page = ask("/", BROWSER_ACCEPT).await;
    assert_eq!(page.status(), 200);
    assert_eq!(header(page.headers(), "content-type"), "text/html; charset=utf-8");
    assert_eq!(header(page.headers(), "cache-control"), "public, max-age=60");
    // Caches keep the page and the error apart.
    assert!(header(page.headers(), "vary").split(", ").any(|name| name == "Accept"));
    assert!(page.text().await.unwrap().starts_with("<!doctype html>"));

    let version = env!("CARGO_PKG_VERSION");
    for accept in ["*/*", "application/json", "application/problem+json", "text/html;q=0.1, */*"] {
        let response = ask("/", accept).await;
        assert_eq!(header(response.headers(), "content-type"), "application/json", "{accept}");
        let index: Value = response.json().await.unwrap();
        let name = "Telephone Number Reference Service";
        let expected = json!({
            "name": name, "version": version, "docs": "/docs", "openapi": "/openapi.json",
            "health": "/health"
        });
        assert_eq!(index, expected, "{accept}");
        for link in ["docs", "openapi", "health"] {
            let target = ask(index[link].as_str().unwrap(), accept).await;
            assert_eq!(target.status(), 200, "{link}");
        }
    }
}

/// A page that can send requests holds a key, so no other code may run in it or read it.
#[tokio::test]
async fn the_page_and_the_documentation_allow_only_their_own_script_and_style() {
    let expected = [
        "base-uri 'none'",
        "connect-src 'self'",
        "default-src 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "img-src 'self' data:",
        "require-trusted-types-for 'script'",
        "script-src 'sha256-",
        "style-src 'sha256-",
        "trusted-types 'none'",
    ];
    for path in ["/", "/docs"] {
        let page = ask(path, BROWSER_ACCEPT).await;
        assert_eq!(header(page.headers(), "referrer-policy"), "no-referrer");
        let mut directives: Vec<&str> =
            header(page.headers(), "content-security-policy").split("; ").collect();
        directives.sort_unstable();
        assert_eq!(directives.len(), expected.len(), "{directives:?}");
        for (directive, expected) in directives.iter().zip(expected) {
            let is_hash = expected.ends_with('-') && directive.starts_with(expected);
            let is_expected = is_hash && !directive.contains("unsafe") || *directive == expected;
            assert!(is_expected, "{directive}");
        }
    }
}

#[tokio::test]
async fn browser_paths_need_no_key_and_no_data() {
    let service = Service::empty().await;
    for path in ["/", "/docs", "/docs/", "/openapi.json", "/openapi-3.0.json"] {
        let request = service.request(path).header("accept", BROWSER_ACCEPT);
        for request in [request.try_clone().unwrap(), request.header("authorization", "Bearer x")] {
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 200, "{path}");
            assert!(!response.text().await.unwrap().is_empty(), "{path}");
        }
    }
}

#[tokio::test]
async fn the_page_is_small_and_cacheable() {
    let ask = || {
        let request = shared_service().request("/").header("accept", BROWSER_ACCEPT);
        request.header("accept-encoding", "gzip")
    };
    let page = ask().send().await.unwrap();
    assert_eq!(header(page.headers(), "content-encoding"), "gzip");
    let tag = page.headers()["etag"].clone();
    let bytes = page.bytes().await.unwrap().len();
    assert!(bytes < MAX_PAGE_BYTES, "{bytes}");
    let again = ask().header("if-none-match", tag).send().await.unwrap();
    assert_eq!(again.status(), 304);
}

#[tokio::test]
async fn the_committed_description_is_served_to_any_origin() {
    for (path, committed) in [
        ("/openapi.json", include_str!("../../../../../docs/openapi.json").to_owned()),
        ("/openapi-3.0.json", format!("{:#}\n", openapi::description_3_0())),
    ] {
        let request = shared_service().request(path).header("origin", "https://a.example");
        let response = request.send().await.unwrap();
        assert_eq!(header(response.headers(), "content-type"), "application/json");
        assert_eq!(response.headers()["access-control-allow-origin"], "*");
        assert!(response.headers().contains_key("etag"));
        assert_eq!(response.text().await.unwrap(), committed, "{path}");
    }
}
