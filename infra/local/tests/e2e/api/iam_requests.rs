//! IAM-authorized requests, such as the probe's, need no key.

use serde_json::{Value, json};
use shared::state::App;

use crate::support::{
    api_events::{http_api_event, rest_api_event},
    endpoints::{endpoints, protected_endpoints},
    function_calls::{FunctionResponse, response_to, with_iam_authorization},
    keys::counted_requests,
    sample_requests::SampleRequest,
    service::{Service, sample_app, shared_service},
};

/// The response to the event from the function that serves its path.
async fn response(event: &Value) -> FunctionResponse {
    let route = event["routeKey"].as_str().unwrap_or_default().trim_start_matches("ANY ");
    let path = event["resource"].as_str().unwrap_or(route);
    let endpoint = endpoints().into_iter().find(|endpoint| endpoint.path == path).unwrap();
    response_to(endpoint.routes(), sample_app().await, event).await
}

fn event_without_key(target: &str) -> Value {
    let mut event = http_api_event(&SampleRequest::get(target));
    event["headers"].as_object_mut().unwrap().remove("authorization");
    event
}

#[tokio::test]
async fn iam_requests_need_no_key_at_any_endpoint() {
    for endpoint in protected_endpoints() {
        let event = http_api_event(&endpoint.example());
        let with_key = response(&event).await;
        let without_key = response(&with_iam_authorization(event)).await;
        assert_eq!((with_key.status, without_key.status), (200, 200), "{endpoint:?}");
        assert_eq!(with_key.body, without_key.body, "{endpoint:?}");
        assert_eq!(without_key.headers["cache-control"], "private", "{endpoint:?}");
    }
}

#[tokio::test]
async fn iam_requests_count_against_no_quota_but_are_validated() {
    let service = Service::with_sample().await;
    let app = App::with_store(service.database.serving_store().await);
    let event = with_iam_authorization(event_without_key("/v1/npa/415?limit=1"));
    let admitted = response_to(npa::routes(), app.clone(), &event).await;
    assert_eq!(admitted.status, 200);
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
    let iam = iam_event["requestContext"]["authorizer"].clone();
    let mut forged_headers = event_without_key(target);
    let mut forged_query = event_without_key(&format!("{target}?requestContext.authorizer.iam=1"));
    let mut forged_body = event_without_key(target);
    let mut top_level_authorizer = event_without_key(target);
    let mut other_authorizer = event_without_key(target);
    for name in ["requestcontext", "x-amzn-request-context", "authorizer", "iam"] {
        forged_headers["headers"][name] = json!(iam.to_string());
    }
    forged_query["queryStringParameters"] =
        json!({ "requestContext.authorizer.iam": iam.to_string() });
    forged_body["body"] = json!(json!({ "requestContext": { "authorizer": iam } }).to_string());
    top_level_authorizer["authorizer"] = iam.clone();
    other_authorizer["requestContext"]["authorizer"] =
        json!({ "lambda": iam.clone(), "jwt": { "claims": { "iam": iam.to_string() } } });
    // Only HTTP APIs put the IAM authorization in this field.
    let mut rest_api_event_with_iam = rest_api_event("/v1/npa", "/v1/npa?npa=415");
    rest_api_event_with_iam["headers"] = json!({});
    rest_api_event_with_iam["requestContext"]["authorizer"] = iam.clone();
    let forged = [
        forged_headers,
        forged_query,
        forged_body,
        top_level_authorizer,
        other_authorizer,
        rest_api_event_with_iam,
    ];
    for event in forged {
        assert_eq!(response(&event).await.status, 401, "{event}");
    }
    let request = shared_service().request(&format!("{target}?iam=1"));
    let request =
        request.header("x-amzn-request-context", json!({ "authorizer": iam }).to_string());
    assert_eq!(request.send().await.unwrap().status(), 401);
}
