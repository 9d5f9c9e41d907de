//! The routes for the lookup page and the documentation.

use serde_json::{Value, json};
use shared::{in_process::RouteResponse, public_address::PublicAddress};
use test_api::{TestApi, header};

use super::routes;

/// The `Accept` header from a browser opening a page.
const BROWSER_ACCEPT: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async fn get(path: &str, accept: &str) -> RouteResponse {
    let response = TestApi::new(routes()).get(path, &[("accept", accept)]).await;
    assert!(response.status.is_success(), "{path}");
    response
}

#[tokio::test]
async fn browsers_get_the_page_and_other_clients_get_an_index() {
    let page = get("/", BROWSER_ACCEPT).await;
    assert_eq!(header(&page.headers, "content-type"), "text/html; charset=utf-8");
    assert!(page.body.starts_with(b"<!doctype html>"));
    for accept in ["*/*", "application/json", "application/problem+json", "text/html;q=0.1, */*"] {
        let index = get("/", accept).await;
        assert_eq!(header(&index.headers, "content-type"), "application/json", "{accept}");
        let index: Value = serde_json::from_slice(&index.body).unwrap();
        let expected = json!({
            "name": "Telephone Number Reference Service", "version": env!("CARGO_PKG_VERSION"),
            "docs": "/docs", "openapi": "/openapi.json", "health": "/health"
        });
        assert_eq!(index, expected, "{accept}");
    }
}

#[tokio::test]
async fn descriptions_name_the_server_that_serves_them_and_are_not_shared() {
    let committed: Value =
        serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap();
    for (path, committed) in [
        ("/openapi.json", committed.clone()),
        ("/openapi-3.0.json", super::version_3_0::convert(committed)),
    ] {
        let api = TestApi::new(routes());
        let served = async |address: Option<String>| {
            let response = api.at(PublicAddress(address)).get(path, &[]).await;
            assert_eq!(header(&response.headers, "cache-control"), "private, max-age=60");
            String::from_utf8(response.body.to_vec()).unwrap()
        };
        let address = "https://numbers.example:8443/base";
        let text = served(Some(address.to_owned())).await;
        assert!(text.contains(&format!("'{address}/v1/carriers")) && !text.contains("{address}"));
        let mut description: Value =
            serde_json::from_str(&text.replace(address, "{address}")).unwrap();
        let this_service = json!([{ "url": "{address}", "description": "This service" }]);
        assert_eq!(description["servers"], this_service);
        assert_eq!(description["externalDocs"]["url"], "{address}/docs");
        for part in ["servers", "externalDocs"] {
            description[part] = committed[part].clone();
        }
        assert_eq!(description, committed, "{path}");
        assert_eq!(served(None).await, committed.to_string(), "{path}");
    }
}

/// CloudFront, which needs a base URL for flags, is the only client that reaches API Gateway's domain.
#[tokio::test]
async fn functions_behind_cloudfront_do_not_name_their_own_domain() {
    for (function, flags, is_named) in [
        (None, "", true),
        (None, "https://cdn.example", true),
        (Some("site"), "", true),
        (Some("site"), "https://cdn.example", false),
    ] {
        let mut app = test_api::app();
        app.config.function = function.map(Into::into);
        app.config.flag_images = flags.parse().unwrap();
        let address = "https://abc.execute-api.us-east-1.amazonaws.com";
        let api = TestApi::on(routes(), app).at(PublicAddress(Some(address.to_owned())));
        let response = api.get("/openapi.json", &[]).await;
        let text = String::from_utf8(response.body.to_vec()).unwrap();
        assert_eq!(text.contains(address), is_named, "{function:?} {flags}");
        assert_eq!(response.headers.contains_key("cache-control"), function.is_none());
    }
}

#[tokio::test]
async fn the_map_of_states_is_beside_the_flags_and_can_be_cached() {
    let map = get("/flags/map.svg", "*/*").await;
    assert_eq!(header(&map.headers, "content-type"), "image/svg+xml");
    assert_eq!(header(&map.headers, "cache-control"), "public, max-age=86400");
    assert!(map.body.starts_with(b"<svg "));
}

#[tokio::test]
async fn the_page_names_the_script_for_lists() {
    let page = String::from_utf8(get("/", BROWSER_ACCEPT).await.body.to_vec()).unwrap();
    let (_, path) = page.split_once("const LIST_SCRIPT = \"").unwrap();
    let (path, _) = path.split_once('"').unwrap();
    let script = get(path, "*/*").await;
    assert_eq!(header(&script.headers, "content-type"), "text/javascript");
    assert_eq!(header(&script.headers, "cache-control"), "public, max-age=86400");
    assert!(script.body.starts_with(b"\nlet COUNTRIES, ") && !path.contains('{'), "{path}");
}

/// A page that can send requests has a key, so no other code may run in it or read it.
#[tokio::test]
async fn both_pages_allow_only_their_own_script_and_style() {
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
        let page = get(path, BROWSER_ACCEPT).await;
        assert_eq!(header(&page.headers, "referrer-policy"), "no-referrer");
        let mut directives: Vec<&str> =
            header(&page.headers, "content-security-policy").split("; ").collect();
        directives.sort_unstable();
        assert_eq!(directives.len(), expected.len(), "{directives:?}");
        for (directive, expected) in directives.iter().zip(expected) {
            let is_hash = expected.ends_with('-') && directive.starts_with(expected);
            let is_expected = is_hash && !directive.contains("unsafe") || *directive == expected;
            assert!(is_expected, "{directive}");
            let imports = path == "/" && expected.starts_with("script-src");
            assert_eq!(
                directive.contains("-src 'sha256-") && directive.contains("'self'"),
                imports
            );
        }
    }
}
