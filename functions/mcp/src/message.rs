//! JSON-RPC messages, and errors for requests without a valid one.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use rmcp::model::{ClientJsonRpcMessage, ErrorCode};
use serde_json::{Value, json};

#[derive(Debug)]
pub struct MessageError {
    status: StatusCode,
    /// The message's ID; null if it cannot be read.
    id: Value,
    code: ErrorCode,
    message: String,
}

const INVALID_MESSAGE: &str = "The body must be one JSON-RPC 2.0 message: an object with jsonrpc '2.0', a method, and \
                               optionally params as an object and an id that is a string or a 64-bit integer";

impl MessageError {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, id: Value::Null, code: ErrorCode::INVALID_REQUEST, message }
    }
}

pub fn read(body: &[u8]) -> Result<Value, MessageError> {
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
        let described = |body: &str| match read(body.as_bytes()) {
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
