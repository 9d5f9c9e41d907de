//! `POST /mcp`: the [Streamable
//! HTTP](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http) transport, without
//! sessions or streams.
//!
//! Lambda freezes a container after its response and sends the next request to any container. Requests are therefore
//! independent, and each response is one JSON body.

use std::{pin::pin, sync::Arc};

use axum::{
    Json,
    body::{Body, to_bytes},
    extract::Request,
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
        header::{ACCEPT, CONTENT_TYPE, HOST},
        request::Parts,
    },
    response::{IntoResponse, Response},
};
use rmcp::{
    model::{ClientJsonRpcMessage, ErrorCode},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde_json::{Value, json};
use shared::{
    auth::Charge,
    body::BodyLimit,
    errors::ApiError,
    http::{AllowedOrigins, accepts_json},
    in_process::InProcessRoutes,
    state::App,
};

use crate::server::ToolServer;

/// A call is a few hundred bytes. The SDK parses a message several times, so it is charged more than other bodies.
const LIMIT: BodyLimit = BodyLimit {
    bytes: 64 * 1024,
    bytes_per_request: 4 * 1024,
    advice: "send fewer numbers in a call",
};

/// Maximum characters in an SDK error message, which may quote a header.
const MAX_MESSAGE_LENGTH: usize = 200;

/// The protocol's headers. The SDK gets no others, such as a key.
const PROTOCOL_HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
];

/// Handles one message; tools call `routes`. Rejects requests from pages on other origins, as [the transport requires](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning).
pub async fn handle(
    app: &App,
    routes: &InProcessRoutes,
    charge: Charge,
    request: Request,
) -> Result<Response, ApiError> {
    let (Parts { headers, .. }, body) = request.into_parts();
    if let Err(error) = check_headers(&headers, &app.config.allowed_origins) {
        return Ok(error.into_response());
    }
    let rejected = |status, message| Ok(MessageError::new(status, message).into_response());
    let body = match LIMIT.read(&app.bodies, &charge, body).await {
        Err(ApiError::ContentTooLarge(message)) => {
            return rejected(StatusCode::PAYLOAD_TOO_LARGE, message);
        }
        Err(ApiError::InvalidRequest { message, .. }) => {
            return rejected(StatusCode::BAD_REQUEST, message);
        }
        read => read?,
    };
    Ok(match parse_message(&body) {
        Ok(message) => call_sdk(app, routes, charge, &headers, &message).await,
        Err(error) => error.into_response(),
    })
}

fn check_headers(headers: &HeaderMap, origins: &AllowedOrigins) -> Result<(), MessageError> {
    let rules = [
        (origins.admit(headers), StatusCode::FORBIDDEN, "This API does not allow the Origin"),
        (accepts_json(headers), StatusCode::NOT_ACCEPTABLE, "Accept must allow application/json"),
        (
            is_json(headers),
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Content-Type must be application/json",
        ),
    ];
    match rules.into_iter().find(|(is_met, ..)| !is_met) {
        Some((_, status, message)) => Err(MessageError::new(status, message)),
        None => Ok(()),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/json")
}

/// Lets the SDK handle a message. Tool calls run in this task, which has the request context, not in the SDK's.
async fn call_sdk(
    app: &App,
    routes: &InProcessRoutes,
    charge: Charge,
    headers: &HeaderMap,
    message: &Value,
) -> Response {
    let (server, mut calls) = ToolServer::new();
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        config(),
    );
    let mut handling = pin!(service.handle(sdk_request(headers, message)));
    let response = loop {
        tokio::select! {
            response = &mut handling => break response,
            Some(call) = calls.recv() => {
                call.respond(routes, charge.clone(), || sample_note(app)).await;
            }
        }
    };
    let (parts, body) = response.into_parts();
    let is_json = is_json(&parts.headers);
    let response = Response::from_parts(parts, Body::new(body));
    if response.status().is_success() || is_json {
        response
    } else {
        to_json_rpc_error(response).await
    }
}

/// A note that the data is made up; `None` for published data.
fn sample_note(app: &App) -> Option<String> {
    let (_, manifest) = app.dataset.in_memory()?;
    let note = "The data is a made-up sample, not what NANPA and CNAC publish";
    manifest.current.is_sample().then(|| note.to_owned())
}

/// Disables sessions and streams. The host is not checked: API Gateway and proxies set their own, and a page that
/// rebinds a DNS name has no key. [`handle`] checks the origin.
fn config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(usize::MAX)
        .disable_allowed_hosts()
        .disable_allowed_origins()
}

/// Builds the request for the SDK, which requires that clients accept streams.
fn sdk_request(headers: &HeaderMap, message: &Value) -> axum::http::Request<Body> {
    let mut request = Request::new(Body::from(message.to_string()));
    *request.method_mut() = Method::POST;
    let is_protocol_header = |(name, _): &(&HeaderName, _)| PROTOCOL_HEADERS.contains(name);
    for (name, value) in headers.iter().filter(is_protocol_header) {
        request.headers_mut().append(name, value.clone());
    }
    for (name, value) in [
        (ACCEPT, "application/json, text/event-stream"),
        (CONTENT_TYPE, "application/json"),
        (HOST, "localhost"),
    ] {
        request.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    request
}

async fn to_json_rpc_error(response: Response) -> Response {
    let status = response.status();
    let text = to_bytes(response.into_body(), LIMIT.bytes).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let message: String =
        text.trim_start_matches("Bad Request: ").chars().take(MAX_MESSAGE_LENGTH).collect();
    MessageError::new(status, message).into_response()
}

/// An error for a request without a valid JSON-RPC message.
#[derive(Debug)]
struct MessageError {
    status: StatusCode,
    /// The message's ID; null if it cannot be read.
    id: Value,
    code: ErrorCode,
    message: String,
}

const INVALID_MESSAGE: &str = "The body must be one JSON-RPC 2.0 message: an object with jsonrpc '2.0', a method, and \
                               optionally params as an object and an id that is a string or a 64-bit integer";

impl MessageError {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, id: Value::Null, code: ErrorCode::INVALID_REQUEST, message }
    }
}

fn parse_message(body: &[u8]) -> Result<Value, MessageError> {
    let message: Value = serde_json::from_slice(body).map_err(|error| MessageError {
        code: ErrorCode::PARSE_ERROR,
        ..MessageError::new(StatusCode::BAD_REQUEST, format!("The body must be JSON: {error}"))
    })?;
    if is_client_message(&message) {
        return Ok(message);
    }
    Err(MessageError {
        id: if has_valid_id(&message) { message["id"].clone() } else { Value::Null },
        ..MessageError::new(StatusCode::BAD_REQUEST, INVALID_MESSAGE)
    })
}

fn is_client_message(message: &Value) -> bool {
    message["jsonrpc"] == "2.0"
        && (message.get("id").is_none() || has_valid_id(message))
        && message.get("params").is_none_or(Value::is_object)
        && serde_json::from_value::<ClientJsonRpcMessage>(message.clone()).is_ok()
}

fn has_valid_id(message: &Value) -> bool {
    message.get("id").is_some_and(|id| id.is_string() || id.is_i64())
}

impl IntoResponse for MessageError {
    fn into_response(self) -> Response {
        let Self { status, id, code, message } = self;
        let error = json!({ "code": code.0, "message": message });
        (status, Json(json!({ "jsonrpc": "2.0", "id": id, "error": error }))).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_messages_get_an_error_with_their_id() {
        let described = |body: &str| match parse_message(body.as_bytes()) {
            Ok(_) => "a message".to_owned(),
            Err(error) => format!("{} {} {}", error.code.0, error.id, error.message),
        };
        let messages = include_str!("messages.txt").lines();
        let found = messages.map(|body| format!("{body}\n  {}\n", described(body)));
        insta::assert_snapshot!(found.collect::<String>());
        assert!(described(&"[".repeat(20_000)).starts_with("-32700 null "));
        assert!(described("\u{feff}{}").starts_with("-32700 null "));
    }
}
