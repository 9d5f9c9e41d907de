//! What is for browsers: the page, the documentation, and the description of the API.

use reqwest::{
    Method, Response,
    header::{
        ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE,
        ETAG, IF_NONE_MATCH, VARY,
    },
};
use serde_json::{Value, json};

use crate::support::service::{Service, header, shared_service};

/// What a browser sends when it opens a page.
const OF_BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
/// The most that the page may take on its way, in bytes.
const LARGEST_PAGE: usize = 27_000;

async fn ask(path: &str, accept: &str) -> Response {
    shared_service().request(path).header(ACCEPT, accept).send().await.unwrap()
}

/// The directives of a content security policy, sorted.
fn policy(response: &Response) -> Vec<&str> {
    let policy = response.headers()["content-security-policy"].to_str().unwrap();
    let mut directives: Vec<&str> = policy.split("; ").collect();
    directives.sort_unstable();
    directives
}

#[tokio::test]
async fn browsers_get_the_page_and_other_clients_an_index() {
    let page = ask("/", OF_BROWSER).await;
    assert_eq!(page.status(), 200);
    assert_eq!(header(page.headers(), CONTENT_TYPE.as_str()), "text/html; charset=utf-8");
    assert_eq!(header(page.headers(), CACHE_CONTROL.as_str()), "public, max-age=60");
    // Caches keep the page and the error apart.
    assert!(header(page.headers(), VARY.as_str()).split(", ").any(|name| name == "Accept"));
    assert!(page.text().await.unwrap().starts_with("<!doctype html>"));

    let version = env!("CARGO_PKG_VERSION");
    for accept in ["*/*", "application/json", "application/problem+json", "text/html;q=0.1, */*"] {
        let response = ask("/", accept).await;
        assert_eq!(
            header(response.headers(), CONTENT_TYPE.as_str()),
            "application/json",
            "{accept}"
        );
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

/// A page that can send requests holds a key, so nothing else may run in it or learn of it.
#[tokio::test]
async fn the_page_and_the_documentation_allow_their_own_script_and_style_and_nothing_else() {
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
        let page = ask(path, OF_BROWSER).await;
        assert_eq!(header(page.headers(), "referrer-policy"), "no-referrer");
        let directives = policy(&page);
        assert_eq!(directives.len(), expected.len(), "{directives:?}");
        for (directive, expected) in directives.iter().zip(expected) {
            let is_hash = expected.ends_with('-') && directive.starts_with(expected);
            let is_expected = is_hash && !directive.contains("unsafe") || *directive == expected;
            assert!(is_expected, "{directive}");
        }
    }
}

#[tokio::test]
async fn what_is_for_browsers_needs_no_key_and_no_data() {
    let service = Service::empty().await;
    for path in ["/", "/docs", "/docs/", "/openapi.json", "/openapi-3.0.json"] {
        let request = service.request(path).header(ACCEPT, OF_BROWSER);
        for request in [request.try_clone().unwrap(), request.header(AUTHORIZATION, "Bearer x")] {
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 200, "{path}");
            assert!(!response.text().await.unwrap().is_empty(), "{path}");
        }
    }
}

#[tokio::test]
async fn the_page_is_small_and_asked_for_once() {
    let ask = || {
        let request = shared_service().request("/").header(ACCEPT, OF_BROWSER);
        request.header(ACCEPT_ENCODING, "gzip")
    };
    let page = ask().send().await.unwrap();
    assert_eq!(header(page.headers(), CONTENT_ENCODING.as_str()), "gzip");
    let tag = page.headers()[ETAG].clone();
    let bytes = page.bytes().await.unwrap().len();
    assert!(bytes < LARGEST_PAGE, "{bytes}");
    let again = ask().header(IF_NONE_MATCH, tag).send().await.unwrap();
    assert_eq!(again.status(), 304);
}

#[tokio::test]
async fn the_description_that_is_served_is_the_committed_one_and_any_page_may_read_it() {
    for (path, committed) in [
        ("/openapi.json", include_str!("../../../../../docs/openapi.json")),
        ("/openapi-3.0.json", include_str!("../../../../../docs/openapi-3.0.json")),
    ] {
        let request = shared_service().request(path).header("origin", "https://a.example");
        let response = request.send().await.unwrap();
        assert_eq!(header(response.headers(), CONTENT_TYPE.as_str()), "application/json");
        assert_eq!(response.headers()["access-control-allow-origin"], "*");
        assert!(response.headers().contains_key(ETAG));
        assert_eq!(response.text().await.unwrap(), committed, "{path}");
    }
}

#[tokio::test]
async fn what_is_for_browsers_answers_head_and_refuses_to_be_written() {
    let of = async |method: Method, path: &str| {
        let request = shared_service().request_with(method, path);
        request.header(ACCEPT, OF_BROWSER).send().await.unwrap()
    };
    for path in ["/", "/docs", "/openapi.json"] {
        let head = of(Method::HEAD, path).await;
        assert_eq!((head.status().as_u16(), head.bytes().await.unwrap().len()), (200, 0), "{path}");
        assert_eq!(of(Method::PUT, path).await.status(), 405, "{path}");
    }
}
