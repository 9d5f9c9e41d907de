//! Flag images, and the links to them in responses.

use flags::VERSION;
use serde_json::{Value, json};
use shared::state::App;

use crate::support::{
    api_events::http_api_event,
    function_calls::response_to,
    sample_requests::SampleRequest,
    service::{KEY, header, http_client, sample_app, shared_service},
};

#[tokio::test]
async fn flag_links_point_to_the_right_image() {
    // The client only knows the server's address.
    let url = format!("{}/v1/format/+13052345678", shared_service().base_url);
    let response = http_client().get(url).bearer_auth(KEY).send().await.unwrap();
    let body: Value = response.json().await.unwrap();
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

#[tokio::test]
async fn flag_links_use_the_event_domain_or_the_configured_host_and_no_client_header() {
    let mut event = http_api_event(&SampleRequest::get("/v1/format/+13052345678"));
    event["requestContext"]["domainName"] = json!("numbers.example.com");
    for (name, value) in [
        ("host", "evil.example"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "http"),
        ("x-forwarded-prefix", "/evil"),
        ("x-original-url", "/evil"),
        ("forwarded", "host=evil.example;proto=http"),
        ("origin", "http://evil.example"),
    ] {
        event["headers"][name] = json!(value);
    }
    let own = format!("https://numbers.example.com/flags/{VERSION}");
    assert_eq!(linked_address(sample_app().await, &event).await, own);
    let mut app = sample_app().await;
    app.config.flag_images = "https://cdn.example/flags/".parse().unwrap();
    assert_eq!(linked_address(app, &event).await, "https://cdn.example/flags");
}
