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
        let mut app = test_api::app();
        app.config.flag_images = "https://cdn.example".parse().unwrap();
        let api = TestApi::on(routes(), app);
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

#[tokio::test]
async fn the_map_and_the_list_script_are_cacheable() {
    let page = String::from_utf8(get("/", BROWSER_ACCEPT).await.body.to_vec()).unwrap();
    let (_, script) = page.split_once("const LIST_SCRIPT = \"").unwrap();
    let (script, _) = script.split_once('"').unwrap();
    for (path, media_type, start) in [
        ("/flags/map.svg", "image/svg+xml", "<svg "),
        (script, "text/javascript", "\nlet COUNTRIES, "),
    ] {
        let file = get(path, "*/*").await;
        assert_eq!(header(&file.headers, "content-type"), media_type, "{path}");
        assert_eq!(header(&file.headers, "cache-control"), "public, max-age=86400", "{path}");
        assert!(file.body.starts_with(start.as_bytes()) && !path.contains('{'), "{path}");
    }
}

/// A page that can send requests has a key, so no other code may run in it or read it.
#[tokio::test]
async fn both_pages_allow_only_their_own_script_and_style() {
    let mut policies = String::new();
    for path in ["/", "/docs"] {
        let page = get(path, BROWSER_ACCEPT).await;
        assert_eq!(header(&page.headers, "referrer-policy"), "no-referrer");
        let policy = header(&page.headers, "content-security-policy");
        let mut parts = policy.split("sha256-");
        policies += &format!("{path}: {}", parts.next().unwrap());
        // A hash in base64 ends with an equals sign.
        parts.for_each(|part| policies += &format!("sha256-…{}", part.split_once('=').unwrap().1));
        policies.push('\n');
    }
    insta::assert_snapshot!(policies);
}
