//! The error responses of the OpenAPI description, declared once for all routes.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use utoipa::{
    IntoResponses,
    openapi::{ContentBuilder, Ref, RefOr, Response, response::ResponseBuilder},
};

use super::{ApiError, PROBLEM_MEDIA_TYPE};

/// Responses by their status.
type Responses = BTreeMap<String, RefOr<Response>>;

/// What each status means.
const MEANINGS: [(StatusCode, &str); 7] = [
    (
        StatusCode::BAD_REQUEST,
        "A parameter breaks its rule. The message names the parameter, the value and the rule.",
    ),
    (StatusCode::UNAUTHORIZED, "The request has no API key, or one that is not live."),
    (StatusCode::NOT_FOUND, "There is no record of what was asked for. The message names it."),
    (StatusCode::METHOD_NOT_ALLOWED, "The endpoint does not support the method."),
    (
        StatusCode::TOO_MANY_REQUESTS,
        "A quota of the API key is exhausted. `details` tells which, and when the next request is \
         admitted.",
    ),
    (StatusCode::INTERNAL_SERVER_ERROR, "A defect of the service."),
    (
        StatusCode::SERVICE_UNAVAILABLE,
        "The numbering data cannot be read at the moment. A retry after some seconds may succeed.",
    ),
];

/// The statuses of failures of an endpoint that needs a key and looks up a record.
impl IntoResponses for ApiError {
    fn responses() -> Responses {
        MEANINGS.iter().map(|&(status, meaning)| response(status, meaning)).collect()
    }
}

/// The statuses of failures of an endpoint that needs a key and looks up no single record.
pub struct ListError;

impl IntoResponses for ListError {
    fn responses() -> Responses {
        responses_without(&[StatusCode::NOT_FOUND])
    }
}

/// The statuses of failures of an endpoint that needs no key.
pub struct PublicError;

impl IntoResponses for PublicError {
    fn responses() -> Responses {
        responses_without(&[
            StatusCode::BAD_REQUEST,
            StatusCode::UNAUTHORIZED,
            StatusCode::NOT_FOUND,
            StatusCode::TOO_MANY_REQUESTS,
        ])
    }
}

fn responses_without(statuses: &[StatusCode]) -> Responses {
    let mut responses = ApiError::responses();
    responses.retain(|status, _| statuses.iter().all(|absent| absent.as_str() != status));
    responses
}

fn response(status: StatusCode, meaning: &str) -> (String, RefOr<Response>) {
    let content =
        |schema: &str| ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
    let response = ResponseBuilder::new()
        .description(meaning)
        .content("application/json", content("ErrorBody"))
        .content(PROBLEM_MEDIA_TYPE, content("Problem"));
    (status.as_str().to_owned(), response.into())
}
