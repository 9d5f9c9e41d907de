//! Flag images, and the links to them in responses.

use flags::VERSION;
use reqwest::Method;
use serde_json::{Value, json};
use shared::state::App;

use crate::support::{
    api_events::{HOST, http_api_event},
    function_calls::response_to,
    sample_requests::SampleRequest,
    service::{KEY, header, http_client, sample_app, shared_service},
};

/// The response for a number when the client only knows the server's address.
async fn format_number(number: &str) -> Value {
    let url = format!("{}/v1/format/{number}", shared_service().base_url);
    http_client().get(url).bearer_auth(KEY).send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn flag_links_point_to_the_right_image() {
    let body = format_number("+13052345678").await;
    for (pointer, path, media_type) in [
        ("/country/svg", "countries/US.svg", "image/svg+xml"),
        ("/country/png/small", "countries/US-48x32.png", "image/png"),
        ("/state/svg", "states/FL.svg", "image/svg+xml"),
        ("/state/png/medium", "states/FL-240x160.png", "image/png"),
        ("/state/png/large", "states/FL-480x320.png", "image/png"),
    ] {
        let link = body["flags"].pointer(pointer).and_then(Value::as_str).unwrap();
        assert!(link.ends_with(path), "{link}");
        let response = http_client().get(link).send().await.unwrap();
        assert_eq!(response.status(), 200, "{link}");
        assert_eq!(header(response.headers(), "content-type"), media_type, "{link}");
        assert_eq!(response.bytes().await.unwrap(), flags::image(path).unwrap().bytes, "{link}");
    }
}

/// The address before `/countries` in the flag links that `format` returns for an event.
async fn linked_address(app: App, event: &Value) -> String {
    let response = response_to(format::routes(), app, event).await;
    let svg = response.body["flags"]["country"]["svg"].as_str();
    let svg = svg.unwrap_or_else(|| panic!("{event}: {}", response.body));
    svg.strip_suffix("/countries/US.svg").unwrap().to_owned()
}

fn event() -> Value {
    http_api_event(&SampleRequest::get("/v1/format/+13052345678"))
}

#[tokio::test]
async fn client_headers_do_not_change_a_functions_flag_links() {
    let own = format!("https://{HOST}/flags/{VERSION}");
    for (name, value) in [
        ("host", "evil.example"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "http"),
        ("x-forwarded-prefix", "/evil"),
        ("x-original-url", "/evil"),
        ("forwarded", "host=evil.example;proto=http"),
        ("origin", "http://evil.example"),
    ] {
        let mut event = event();
        event["headers"][name] = json!(value);
        assert_eq!(linked_address(sample_app().await, &event).await, own, "{name}: {value}");
    }
}

#[tokio::test]
async fn flag_links_use_the_event_domain_or_the_configured_host() {
    let mut event = event();
    event["requestContext"]["domainName"] = json!("numbers.example.com");
    let own = format!("https://numbers.example.com/flags/{VERSION}");
    assert_eq!(linked_address(sample_app().await, &event).await, own);
    let mut app = sample_app().await;
    app.config.flag_images = "https://cdn.example/flags/".parse().unwrap();
    assert_eq!(linked_address(app, &event).await, "https://cdn.example/flags");
}

#[tokio::test]
async fn servers_link_to_the_requested_host() {
    let url = format!("{}/v1/format/+13052345678", shared_service().base_url);
    for (host, proto) in [("numbers.example.com", "https"), ("numbers.example.com:8080", "http")] {
        let request = http_client().get(&url).bearer_auth(KEY).header("host", host);
        let response = request.header("x-forwarded-proto", proto).send().await.unwrap();
        assert_eq!(response.headers()["cache-control"], "private", "{host}");
        let body: Value = response.json().await.unwrap();
        let svg = format!("{proto}://{host}/flags/{VERSION}/countries/US.svg");
        assert_eq!(body["flags"]["country"]["svg"], svg);
    }
}

#[tokio::test]
async fn versioned_images_are_immutable_and_others_cached_for_a_day() {
    let service = shared_service();
    for (folder, caching) in [
        (format!("/flags/{VERSION}"), "public, max-age=31536000, immutable"),
        ("/flags/00000000".to_owned(), "public, max-age=86400"),
        ("/flags".to_owned(), "public, max-age=86400"),
    ] {
        for (name, coding) in [("countries/US.svg", "gzip"), ("states/FL-480x320.png", "")] {
            let path = format!("{folder}/{name}");
            let request = |method| service.request_with(method, &path);
            let response =
                request(Method::GET).header("accept-encoding", "gzip").send().await.unwrap();
            assert_eq!(response.status(), 200, "{path}");
            for (name, value) in [
                ("cache-control", caching),
                ("content-encoding", coding),
                ("access-control-allow-origin", "*"),
                ("cross-origin-resource-policy", "cross-origin"),
                (
                    "content-security-policy",
                    "default-src 'none'; style-src 'unsafe-inline'; sandbox",
                ),
            ] {
                assert_eq!(header(response.headers(), name), value, "{path}");
            }
            let tag = &response.headers()["etag"];
            let again = request(Method::GET).header("if-none-match", tag).send().await.unwrap();
            assert_eq!(again.status(), 304, "{path}");
            assert_eq!(header(again.headers(), "cache-control"), caching, "{path}");
        }
    }
}

#[tokio::test]
async fn malformed_flag_paths_are_not_found() {
    for path in [
        "/flags/1234567/countries/US.svg",
        "/flags/version1/countries/US.svg",
        "/flags/00000000/00000000/countries/US.svg",
        "/flags/countries/..%2Fstates/FL.svg",
        "/flags/%FF",
        "/flags",
    ] {
        assert_eq!(shared_service().request(path).send().await.unwrap().status(), 404, "{path}");
    }
}
