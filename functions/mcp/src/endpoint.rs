//! `POST /mcp`: the [Streamable
//! HTTP](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http) transport, without
//! sessions or streams.
//!
//! Lambda freezes a function after its response, and sends the next request to any container. So requests are
//! independent, and each is answered by one JSON body.

use std::{pin::pin, sync::Arc};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
        header::{ACCEPT, CONTENT_TYPE, HOST},
    },
    response::{IntoResponse, Response},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use serde_json::Value;
use shared::{
    auth::Charge,
    body::{self, UnreadableBody},
    errors::ApiError,
    http::{AllowedOrigins, accepts_json},
    in_process::InProcess,
};

use crate::{
    message::{self, Refused},
    server::ToolServer,
    tools::Tool,
};

/// Maximum body size; a call needs a few hundred bytes.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// Maximum length of an SDK message in characters. A message may repeat a header.
const MAX_MESSAGE_LENGTH: usize = 200;

/// The headers the protocol defines. The SDK sees no others, such as a key.
const PROTOCOL_HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
];

/// Answers one message. Its tool calls `routes`. A page from a disallowed origin is refused, as [the transport
/// requires](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning).
pub async fn answer(
    routes: &InProcess,
    origins: &AllowedOrigins,
    charge: Charge,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    if !origins.admit(&parts.headers) {
        let message = "Origin must be one that this API allows";
        return Ok(Refused::new(StatusCode::FORBIDDEN, message).into_response());
    }
    match message_of(&parts.headers, body).await {
        Ok(message) => {
            if !takes_numbers(&message) {
                charge.charge_many(1).await?;
            }
            Ok(answer_message(routes, charge, &parts.headers, &message).await)
        }
        Err(refused) => Ok(refused.into_response()),
    }
}

/// Returns true if the message calls a tool whose route counts numbers.
fn takes_numbers(message: &Value) -> bool {
    let name = message["params"]["name"].as_str().unwrap_or_default();
    message["method"] == "tools/call" && Tool::named(name).is_some_and(|tool| tool.takes_numbers)
}

/// The message of a request.
async fn message_of(headers: &HeaderMap, body: Body) -> Result<Value, Refused> {
    if !accepts_json(headers) {
        let message = "Accept must allow application/json, in which every answer is";
        return Err(Refused::new(StatusCode::NOT_ACCEPTABLE, message));
    }
    if !is_json(headers) {
        let message = "Content-Type must be application/json";
        return Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let body = body::read(body, MAX_BODY_BYTES).await.map_err(|error| match error {
        UnreadableBody::TooLong => {
            let message = format!("The body must have at most {MAX_BODY_BYTES} bytes");
            Refused::new(StatusCode::PAYLOAD_TOO_LARGE, message)
        }
        UnreadableBody::Broken => Refused::new(StatusCode::BAD_REQUEST, body::BROKEN),
    })?;
    message::read(&body)
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/json")
}

/// Lets the SDK answer a message. The SDK spawns tasks for tools, but their routes run in the request's task, which has
/// its request context and metered capacity.
async fn answer_message(
    routes: &InProcess,
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
    let mut answered = pin!(service.handle(request_to_sdk(headers, message)));
    let response = loop {
        tokio::select! {
            response = &mut answered => break response,
            Some(call) = calls.recv() => call.answer_from(routes, charge.clone(), None).await,
        }
    };
    let (parts, body) = response.into_parts();
    let is_json = is_json(&parts.headers);
    let response = Response::from_parts(parts, Body::new(body));
    if response.status().is_success() || is_json { response } else { as_refusal(response).await }
}

/// No sessions or streams. The host is not checked: API Gateway or a proxy may set any, and a page with a rebound name
/// has no key. [`answer`] checks the origin.
fn config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(usize::MAX)
        .disable_allowed_hosts()
        .disable_allowed_origins()
}

/// The message in the form the SDK expects. It requires clients to accept streams, which it never sends.
fn request_to_sdk(headers: &HeaderMap, message: &Value) -> axum::http::Request<Body> {
    let mut request = Request::new(Body::from(message.to_string()));
    *request.method_mut() = Method::POST;
    let is_of_protocol = |(name, _): &(&HeaderName, _)| PROTOCOL_HEADERS.contains(name);
    for (name, value) in headers.iter().filter(is_of_protocol) {
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

/// Converts the SDK's plain-text errors to JSON-RPC.
async fn as_refusal(response: Response) -> Response {
    let status = response.status();
    let text =
        to_bytes(response.into_body(), MAX_BODY_BYTES).await.unwrap_or_else(|_| Bytes::new());
    let text = String::from_utf8_lossy(&text);
    let message: String =
        text.trim_start_matches("Bad Request: ").chars().take(MAX_MESSAGE_LENGTH).collect();
    Refused::new(status, message).into_response()
}
