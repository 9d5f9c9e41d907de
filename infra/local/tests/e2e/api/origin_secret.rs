//! The origin secret, which every outside request must contain if one is set.

use serde_json::Value;
use shared::auth::OriginSecrets;

use crate::support::{
    api_events::http_api_event,
    endpoints::{Endpoint, endpoints},
    function_calls::{FunctionResponse, response_to, with_iam_authorization},
    sample_requests::SampleRequest,
    service::sample_app,
};

/// An endpoint function's response to an event, with these secrets set.
async fn response(endpoint: &Endpoint, secrets: &str, event: &Value) -> FunctionResponse {
    let mut app = sample_app().await;
    app.config.origin_secrets = OriginSecrets::parse(secrets);
    response_to(endpoint.routes(), app, event).await
}

fn with_secret(mut event: Value, secret: &str) -> Value {
    event["headers"]["x-origin-secret"] = secret.into();
    event
}

#[tokio::test]
async fn every_path_rejects_requests_without_the_origin_secret() {
    for endpoint in endpoints() {
        let event = http_api_event(&endpoint.example());
        for rejected in [event.clone(), with_secret(event.clone(), "guess")] {
            let response = response(&endpoint, "first,second", &rejected).await;
            assert_eq!((response.status, &response.body["error"]), (403, &"forbidden".into()));
            assert_eq!(response.headers["cache-control"], "no-store", "{endpoint:?}");
            assert!(response.headers.contains_key("x-request-id"), "{endpoint:?}");
        }
        for secret in ["first", "second"] {
            let event = with_secret(event.clone(), secret);
            let admitted = response(&endpoint, "first,second", &event).await;
            assert_eq!(admitted.status, 200, "{endpoint:?}");
        }
        assert_eq!(response(&endpoint, "", &event).await.status, 200, "{endpoint:?}");
        let iam_response = response(&endpoint, "first", &with_iam_authorization(event)).await;
        assert_eq!(iam_response.status, 200, "{endpoint:?}");
    }
}

#[tokio::test]
async fn unknown_paths_and_preflights_need_the_secret_and_errors_can_be_problem_details() {
    let unknown = Endpoint::unknown_paths();
    let event = http_api_event(&SampleRequest::get("/v1/nowhere"));
    assert_eq!(response(&unknown, "secret", &event).await.status, 403);
    let mut preflight = http_api_event(&SampleRequest::new("preflight", "OPTIONS", "/v1/nowhere"));
    preflight["headers"]["origin"] = "https://page.example".into();
    preflight["headers"]["access-control-request-method"] = "GET".into();
    assert_eq!(response(&unknown, "secret", &preflight).await.status, 403);
    assert_eq!(response(&unknown, "secret", &with_secret(preflight, "secret")).await.status, 204);
    let mut problem = event;
    problem["headers"]["accept"] = "application/problem+json".into();
    let problem = response(&unknown, "secret", &problem).await;
    assert_eq!(problem.headers["content-type"], "application/problem+json");
    assert_eq!(
        (&problem.body["status"], &problem.body["error"]),
        (&403.into(), &"forbidden".into())
    );
}
