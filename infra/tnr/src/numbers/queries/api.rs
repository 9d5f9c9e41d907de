//! Calls the API's routes, and turns their errors into the command's.

use std::borrow::Cow;

use axum::http::StatusCode;
use serde_json::Value;
use shared::{
    auth::Charge,
    in_process::{InProcess, RouteResponse},
};

use crate::{CliError, error::Context};

/// Parameter names and values.
pub(super) type Params<'a> = Vec<(&'a str, Cow<'a, str>)>;

/// Calls an API route.
pub(super) async fn get<'a>(
    api: &InProcess,
    path: &str,
    params: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Value, CliError> {
    let response = api.get(path, params, Charge::default()).await;
    parse_json(path, &check_status(path, response)?)
}

/// Returns a response's body, or the API's message as an error.
pub(super) fn check_status(path: &str, response: RouteResponse) -> Result<Vec<u8>, CliError> {
    if response.status.is_success() {
        return Ok(response.body.to_vec());
    }
    let body = parse_json(path, &response.body)?;
    let message = lower_first(body["message"].as_str().unwrap_or_default());
    match response.status {
        StatusCode::NOT_FOUND => Err(CliError::NotFound(message)),
        _ => Err(CliError::failed(message)),
    }
}

pub(super) fn parse_json(path: &str, body: &[u8]) -> Result<Value, CliError> {
    serde_json::from_slice(body).context(format!("the response from {path} is not JSON"))
}

/// Lowercases the first letter to follow `error: `, unless the message starts with an abbreviation.
pub(super) fn lower_first(message: &str) -> String {
    let mut characters = message.chars();
    match (characters.next(), characters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_messages_start_in_lowercase() {
        assert_eq!(lower_first("No carrier found"), "no carrier found");
        assert_eq!(lower_first("npa must be"), "npa must be");
        assert_eq!(lower_first("NPA 999 is"), "NPA 999 is");
        assert_eq!(lower_first(""), "");
    }
}
