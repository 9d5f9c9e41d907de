//! The page, the documentation and the OpenAPI description.

use tnr::openapi;

use crate::support::service::{header, shared_service};

/// The `Accept` header of a browser opening a page.
const BROWSER_ACCEPT: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
/// The size limit for the compressed page, in bytes.
const MAX_PAGE_BYTES: usize = 28_000;

#[tokio::test]
async fn the_page_is_small_and_cacheable() {
    let request = || {
        let page = shared_service().request("/").header("accept", BROWSER_ACCEPT);
        page.header("accept-encoding", "gzip")
    };
    let page = request().send().await.unwrap();
    assert_eq!(header(page.headers(), "content-encoding"), "gzip");
    assert_eq!(header(page.headers(), "cache-control"), "public, max-age=60");
    // Caches keep the page and the index apart.
    assert!(header(page.headers(), "vary").split(", ").any(|name| name == "Accept"));
    let tag = page.headers()["etag"].clone();
    let bytes = page.bytes().await.unwrap().len();
    assert!(bytes < MAX_PAGE_BYTES, "{bytes}");
    let again = request().header("if-none-match", tag).send().await.unwrap();
    assert_eq!(again.status(), 304);
}

#[tokio::test]
async fn the_committed_description_is_served() {
    for (path, committed) in [
        ("/openapi.json", include_str!("../../../../../docs/openapi.json").to_owned()),
        ("/openapi-3.0.json", format!("{:#}\n", openapi::description_3_0())),
    ] {
        let response = shared_service().request(path).send().await.unwrap();
        assert_eq!(response.text().await.unwrap(), committed, "{path}");
    }
}
