//! Errors as problem details (RFC 9457), for clients that ask for them.

use axum::{
    Json,
    extract::Request,
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{ACCEPT, CONTENT_TYPE},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::preferences::{listed, quality};
use crate::{
    errors::{ErrorBody, ErrorCode},
    quota::QuotaStatus,
};

pub const MEDIA_TYPE: &str = "application/problem+json";
/// What an error has without being asked for anything else, and the ranges that include it.
const DEFAULT_MEDIA_TYPES: [&str; 3] = ["application/json", "application/*", "*/*"];

/// An error as problem details (RFC 9457, section 3).
#[derive(Debug, Serialize, ToSchema)]
pub struct Problem {
    /// `about:blank`: the status and `error` say what kind of problem it is.
    #[serde(rename = "type")]
    #[schema(example = "about:blank")]
    problem_type: &'static str,
    /// The phrase of the status.
    #[schema(example = "Not Found")]
    title: &'static str,
    #[schema(example = 404)]
    status: u16,
    /// The `message` of the error in its usual form.
    #[schema(example = "No carrier found with OCN 9999")]
    detail: String,
    /// The `error` of the error in its usual form.
    error: ErrorCode,
    /// Present with `rate_limited` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    details: Option<QuotaStatus>,
}

impl Problem {
    fn of(status: StatusCode, ErrorBody { error, message, details }: ErrorBody) -> Self {
        Self {
            problem_type: "about:blank",
            title: status.canonical_reason().unwrap_or_default(),
            status: status.as_u16(),
            detail: message,
            error,
            details,
        }
    }
}

/// Turns errors into problem details if the client asks for them.
pub async fn render_as_asked(request: Request, next: Next) -> Response {
    let is_asked_for = is_asked_for_by(request.headers());
    let mut response = next.run(request).await;
    let Some(error) = response.extensions_mut().remove::<ErrorBody>() else { return response };
    if !is_asked_for {
        return response;
    }
    let problem = Problem::of(response.status(), error);
    *response.body_mut() = Json(problem).into_response().into_body();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    response
}

/// Whether `Accept` lists problem details and does not prefer plain JSON.
fn is_asked_for_by(headers: &HeaderMap) -> bool {
    let accepted = listed(headers, ACCEPT);
    let of_plain_json = quality(&accepted, &DEFAULT_MEDIA_TYPES).unwrap_or_default();
    quality(&accepted, &[MEDIA_TYPE])
        .is_some_and(|of_problem| of_problem > 0.0 && of_problem >= of_plain_json)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_asked_for(accept: &'static str) -> bool {
        is_asked_for_by(&HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]))
    }

    #[test]
    fn problem_details_are_asked_for_by_their_own_name_only() {
        for accept in [
            "application/problem+json",
            "application/json, Application/Problem+JSON",
            "application/problem+json;q=0.5, application/json;q=0.5",
            "application/problem+json, */*;q=0.1",
        ] {
            assert!(is_asked_for(accept), "{accept}");
        }
        for accept in [
            "",
            "*/*",
            "application/*",
            "application/json",
            "application/problem+json;q=0",
            "application/problem+json;q=0.9, application/json",
            "application/problem+json;q=0.9, */*",
            "application/problem+xml",
        ] {
            assert!(!is_asked_for(accept), "{accept}");
        }
    }
}
