use std::{convert::Infallible, fmt::Write, future::pending, io::Read};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::State,
    http::header,
    routing::{get, post},
};
use flate2::read::GzDecoder;
use futures_util::{FutureExt, stream};
use lambda_http::tower::ServiceExt;
use store::{KeyRecord, Store};

use super::*;
use crate::{
    app,
    auth::{ApiKey, Charge, KeyKind, SECRET_LENGTH, key_record},
    body::BodyLimit,
    json::json_response,
    route,
    routes::{Route, Routes},
};

/// The key's kind, and a long text.
#[utoipa::path(get, path = "/v1/list", params(("npa" = String, Query), ("long" = bool, Query)))]
async fn list(kind: KeyKind, request: Request) -> Response {
    let is_long = request.uri().query().is_some_and(|query| query.contains("long"));
    let text = "long ".repeat(if is_long { 300 } else { 0 });
    json_response(&(format!("{kind:?}"), text))
}

/// Reads the body.
#[utoipa::path(post, path = "/v1/list", params(("npa" = String, Query)))]
async fn read(State(app): State<App>, charge: Charge, request: Request) -> Result<(), ApiError> {
    let limit = BodyLimit { bytes: 1024, bytes_per_request: 512, advice: "" };
    limit.read(&app.bodies, &charge, request.into_body()).await.map(drop)
}

fn service(app: &App) -> Router {
    let keyed = Routes::new([
        route!(list),
        route!(read),
        Route::undocumented_post("/v1/never", post(pending::<()>)),
    ]);
    let public = Routes::public([Route::undocumented_get("/open", get(async || "open"))]);
    app::service([keyed, public], app.clone())
}

const PER_DAY: u32 = 3;

fn limited_record() -> KeyRecord {
    KeyRecord { per_day: Some(PER_DAY), ..key_record("limited") }
}

fn key(character: char) -> ApiKey {
    let secret = character.to_string().repeat(SECRET_LENGTH);
    ApiKey::with_secret(KeyKind::Live, &secret).unwrap()
}

/// Creates an app where key `a` has no quota, `b` has a daily one, and `t` is a test key. Other keys are unknown.
async fn app_with_keys() -> App {
    let app = App::with_store(Store::unreachable());
    let test = KeyRecord { prefix: "tnr_test_Sample".to_owned(), ..key_record("test") };
    for (character, record) in [('a', key_record("a")), ('b', limited_record()), ('t', test)] {
        app.keys.record_read(&key(character), Some(record)).await;
    }
    app.keys.record_read(&key('u'), None).await;
    app
}

/// Sends a request without a body, given as `GET /path`. Returns the response, except for what differs between runs.
async fn exchange(app: &App, request: &str, headers: &[(&str, &str)]) -> String {
    let mut text = request.to_owned();
    let (method, target) = request.split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(target).header("host", "a.example");
    for (name, value) in headers {
        _ = write!(text, "\n  {name}: {value}");
        let key = value.strip_prefix("key ").and_then(|it| it.chars().next()).map(key);
        request = match key {
            Some(key) => request.header(*name, key.reveal()),
            None => request.header(*name, *value),
        };
    }
    let response = service(app).oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    _ = write!(text, "\n{}", response.status().as_u16());
    assert!(response.headers().contains_key("x-request-id"), "{text}");
    let is_compressed = response.headers().contains_key("content-encoding");
    let mut lines: Vec<String> = Vec::new();
    for (name, value) in response.headers() {
        let value = match name.as_str() {
            "x-request-id" => continue,
            "content-length" if is_compressed => continue,
            "x-ratelimit-reset" | "retry-after" => "[time]",
            _ => value.to_str().unwrap(),
        };
        lines.push(format!("\n  {name}: {value}"));
    }
    lines.sort();
    text.extend(lines);
    let mut body = to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec();
    if is_compressed {
        let compressed = std::mem::take(&mut body);
        GzDecoder::new(&*compressed).read_to_end(&mut body).unwrap();
    }
    match std::str::from_utf8(&body) {
        Ok(body) if body.len() < 400 => {
            let body = body.split_once("retry after ").map_or(body, |(before, _)| before);
            text + "\n" + body + "\n\n"
        }
        _ => text + &format!("\n[{} bytes]\n\n", body.len()),
    }
}

#[tokio::test]
async fn every_response_follows_the_rules_for_its_request() {
    let mut app = app_with_keys().await;
    let mut text = String::new();
    for group in include_str!("requests.txt").split("\n\n") {
        for line in group.lines().filter(|line| !line.starts_with('#')) {
            let mut parts = line.split(" | ");
            let request = parts.next().unwrap();
            let headers: Vec<_> = parts.map(|header| header.split_once(": ").unwrap()).collect();
            text += &exchange(&app, request, &headers).await;
        }
        app.config.allowed_origins = "https://a.example, https://b.example".parse().unwrap();
    }
    insta::assert_snapshot!(text);
}

/// A request whose body never arrives.
fn endless_request(path: &str, key: &str) -> Request {
    let body = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
    let request = Request::post(path).header(header::HOST, "a.example");
    request.header("x-api-key", key).body(body).unwrap()
}

async fn counted(app: &App) -> u64 {
    let charge = Charge::for_key(&app.quotas, limited_record());
    // Reads the statuses without charging anything.
    charge.raise_to(u64::from(PER_DAY) + 1).await.unwrap_err();
    u64::from(PER_DAY) - charge.min_remaining().unwrap()
}

#[tokio::test]
async fn rejected_requests_do_not_wait_for_their_body() {
    let app = app_with_keys().await;
    Charge::for_key(&app.quotas, limited_record()).raise_to(PER_DAY.into()).await.unwrap();
    for (key, status) in [
        (key('b').reveal(), StatusCode::TOO_MANY_REQUESTS),
        (key('u').reveal(), StatusCode::UNAUTHORIZED),
        ("malformed", StatusCode::UNAUTHORIZED),
        ("", StatusCode::UNAUTHORIZED),
    ] {
        let response = service(&app).oneshot(endless_request("/v1/list", key)).await.unwrap();
        assert_eq!(response.status(), status, "{key}");
    }
}

#[tokio::test]
async fn requests_remain_charged_if_the_client_hangs_up() {
    let (app, key) = (app_with_keys().await, key('b'));
    for (path, expected) in [("/v1/never", 1), ("/v1/list", 2)] {
        let mut request = Box::pin(service(&app).oneshot(endless_request(path, key.reveal())));
        // Waits until the table has failed, so that the next requests are counted without it.
        while counted(&app).await < expected {
            assert!(request.as_mut().now_or_never().is_none());
            tokio::task::yield_now().await;
        }
        drop(request);
        assert_eq!(counted(&app).await, expected);
    }
}
