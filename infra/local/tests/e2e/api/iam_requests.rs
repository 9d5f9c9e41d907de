//! Requests that IAM has authorized, such as those of the probe: they need no key.

use serde_json::{Value, json};
use shared::state::App;
use tnr::functions;

use crate::support::{
    api_events::http_api_event,
    endpoints::{endpoints, protected_endpoints},
    function_calls::{FunctionAnswer, answer_of, authorized_by_iam},
    keys::counted_requests,
    sample_requests::SampleRequest,
    service::{Service, http_client, shared_service},
};

/// What the function that has the path answers to the event.
async fn answer(event: &Value) -> FunctionAnswer {
    let route = event["routeKey"].as_str().unwrap_or_default().trim_start_matches("ANY ");
    let path = event["resource"].as_str().unwrap_or(route);
    let endpoint = endpoints().into_iter().find(|endpoint| endpoint.path == path).unwrap();
    let (_, routes) = functions().into_iter().find(|(name, _)| *name == endpoint.function).unwrap();
    let app = App::on(shared_service().database.serving_store().await);
    answer_of(routes, app, event).await
}

/// The event of a request without a key.
fn event_without_key(target: &str) -> Value {
    let mut event = http_api_event(&SampleRequest::get(target));
    event["headers"].as_object_mut().unwrap().remove("authorization");
    event
}

#[tokio::test]
async fn a_request_that_iam_has_authorized_needs_no_key_at_any_endpoint() {
    for endpoint in protected_endpoints() {
        let event = http_api_event(&endpoint.example());
        let with_key = answer(&event).await;
        let without_key = answer(&authorized_by_iam(event)).await;
        assert_eq!((with_key.status, without_key.status), (200, 200), "{endpoint:?}");
        assert_eq!(with_key.body, without_key.body, "{endpoint:?}");
        assert_eq!(without_key.headers["cache-control"], "private", "{endpoint:?}");
    }
}

#[tokio::test]
async fn it_counts_for_no_quota_and_its_parameters_are_still_checked() {
    let service = Service::with_sample().await;
    let app = App::on(service.database.serving_store().await);
    let event = authorized_by_iam(event_without_key("/v1/npa/415?limit=1"));
    let admitted = answer_of(npa::routes(), app.clone(), &event).await;
    assert_eq!(admitted.status, 200);
    assert!(admitted.headers.keys().all(|name| !name.as_str().starts_with("x-ratelimit")));
    for target in ["/v1/npa/415?limit=0", "/v1/npa/41x", "/v1/npa/415?limt=1"] {
        let event = authorized_by_iam(event_without_key(target));
        assert_eq!(answer_of(npa::routes(), app.clone(), &event).await.status, 400, "{target}");
    }
    assert!(counted_requests(&service.database.store()).await.is_empty());
}

#[tokio::test]
async fn nothing_that_a_client_sends_imitates_the_authorization_of_iam() {
    let target = "/v1/npa/415";
    let iam = authorized_by_iam(event_without_key(target))["requestContext"]["authorizer"].clone();
    let mut in_headers = event_without_key(target);
    let mut in_query = event_without_key(&format!("{target}?requestContext.authorizer.iam=1"));
    let mut in_body = event_without_key(target);
    let mut beside_context = event_without_key(target);
    let mut by_other_authorizer = event_without_key(target);
    for name in ["requestcontext", "x-amzn-request-context", "authorizer", "iam"] {
        in_headers["headers"][name] = json!(iam.to_string());
    }
    in_query["queryStringParameters"] = json!({ "requestContext.authorizer.iam": iam.to_string() });
    in_body["body"] = json!(json!({ "requestContext": { "authorizer": iam } }).to_string());
    beside_context["authorizer"] = iam.clone();
    by_other_authorizer["requestContext"]["authorizer"] =
        json!({ "lambda": iam.clone(), "jwt": { "claims": { "iam": iam.to_string() } } });
    for event in [in_headers, in_query, in_body, beside_context, by_other_authorizer] {
        assert_eq!(answer(&event).await.status, 401, "{event}");
    }
    let request = http_client()
        .get(format!("{}{target}?iam=1", shared_service().base_url))
        .header("x-amzn-request-context", json!({ "authorizer": iam }).to_string());
    assert_eq!(request.send().await.unwrap().status(), 401);
}

/// Only an HTTP API writes what IAM has authorized in this place.
#[tokio::test]
async fn events_of_rest_apis_and_load_balancers_need_a_key() {
    let iam =
        authorized_by_iam(event_without_key("/v1/npa"))["requestContext"]["authorizer"].clone();
    let rest_api = json!({
        "resource": "/v1/npa", "path": "/v1/npa", "httpMethod": "GET", "headers": {},
        "multiValueHeaders": {}, "queryStringParameters": { "npa": "415" },
        "multiValueQueryStringParameters": null, "pathParameters": null,
        "stageVariables": null, "body": null, "isBase64Encoded": false,
        "requestContext": {
            "resourcePath": "/v1/npa", "httpMethod": "GET", "path": "/prod/v1/npa",
            "stage": "prod", "protocol": "HTTP/1.1", "identity": {}, "requestTimeEpoch": 0,
            "apiId": "a", "accountId": "1", "resourceId": "r", "requestId": "i", "authorizer": iam
        }
    });
    assert_eq!(answer(&rest_api).await.status, 401);
    let load_balancer = json!({
        "requestContext": { "elb": { "targetGroupArn": "arn:aws:x" }, "authorizer": iam },
        "httpMethod": "GET", "path": "/v1/npa", "queryStringParameters": { "npa": "415" },
        "headers": {}, "body": "", "isBase64Encoded": false
    });
    match lambda_http::request::from_str(&load_balancer.to_string()) {
        // The functions are built without the events of load balancers.
        Err(_) => (),
        Ok(_) => panic!("the functions take events of load balancers, whose requests need a key"),
    }
}
