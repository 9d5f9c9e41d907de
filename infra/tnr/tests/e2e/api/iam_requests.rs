//! IAM-authorized requests, such as the probe's, need no key.

use serde_json::{Value, json};
use shared::state::App;

use crate::support::{
    api_events::http_api_event,
    function_calls::{response_to, with_iam_authorization},
    keys::counted_requests,
    sample_requests::SampleRequest,
    service::{Service, sample_app, shared_service},
};

fn event_without_key(target: &str) -> Value {
    let mut event = http_api_event(&SampleRequest::get(target));
    event["headers"].as_object_mut().unwrap().remove("authorization");
    event
}

#[tokio::test]
async fn iam_requests_count_against_no_quota_but_are_validated() {
    let service = Service::with_sample().await;
    let app = App::with_store(service.database.serving_store().await);
    let event = with_iam_authorization(event_without_key("/v1/npa/415?limit=1"));
    let admitted = response_to(npa::routes(), app.clone(), &event).await;
    assert_eq!(admitted.status, 200);
    assert_eq!(admitted.headers["cache-control"], "private");
    assert!(admitted.headers.keys().all(|name| !name.as_str().starts_with("x-ratelimit")));
    for target in ["/v1/npa/415?limit=0", "/v1/npa/41x", "/v1/npa/415?limt=1"] {
        let event = with_iam_authorization(event_without_key(target));
        assert_eq!(response_to(npa::routes(), app.clone(), &event).await.status, 400, "{target}");
    }
    assert!(counted_requests(&service.database.store()).await.is_empty());
}

#[tokio::test]
async fn clients_cannot_forge_iam_authorization() {
    let target = "/v1/npa/415";
    let iam_event = with_iam_authorization(event_without_key(target));
    let iam = &iam_event["requestContext"]["authorizer"];
    for (location, forged) in [
        ("/headers", json!({ "x-amzn-request-context": iam.to_string(), "iam": iam.to_string() })),
        ("/queryStringParameters", json!({ "requestContext.authorizer.iam": iam.to_string() })),
        ("/rawQueryString", json!("requestContext.authorizer.iam=1")),
        ("/body", json!({ "requestContext": { "authorizer": iam } }).to_string().into()),
        ("/authorizer", iam.clone()),
        (
            "/requestContext/authorizer",
            json!({ "lambda": iam, "jwt": { "claims": { "iam": "1" } } }),
        ),
    ] {
        let mut event = event_without_key(target);
        let (parent, name) = location.rsplit_once('/').unwrap();
        event.pointer_mut(parent).unwrap()[name] = forged;
        let response = response_to(npa::routes(), sample_app().await, &event).await;
        assert_eq!(response.status, 401, "{event}");
    }
    let request = shared_service().request(&format!("{target}?iam=1"));
    let request =
        request.header("x-amzn-request-context", json!({ "authorizer": iam }).to_string());
    assert_eq!(request.send().await.unwrap().status(), 401);
}
