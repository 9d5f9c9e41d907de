//! Errors as problem details (RFC 9457), for clients that ask for them.

use axum::{
    Json,
    http::{
        HeaderMap, HeaderValue,
        header::{ACCEPT, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};

use super::preferences::{listed, quality};
use crate::errors::{ErrorBody, PROBLEM_MEDIA_TYPE, Problem};

/// The media type of errors by default, and the ranges that include it.
const DEFAULT_MEDIA_TYPES: [&str; 3] = ["application/json", "application/*", "*/*"];

/// The response as problem details if it is an error.
pub fn as_problem(mut response: Response) -> Response {
    let Some(error) = response.extensions_mut().remove::<ErrorBody>() else { return response };
    let problem = Problem::of(response.status(), error);
    *response.body_mut() = Json(problem).into_response().into_body();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_MEDIA_TYPE));
    response
}

/// Whether `Accept` lists problem details and does not prefer plain JSON.
pub fn is_asked_for_by(headers: &HeaderMap) -> bool {
    let accepted = listed(headers, ACCEPT);
    let of_plain_json = quality(&accepted, &DEFAULT_MEDIA_TYPES).unwrap_or_default();
    quality(&accepted, &[PROBLEM_MEDIA_TYPE])
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
