//! The error responses, as components of the OpenAPI description.

use std::collections::BTreeMap;

use utoipa::{
    IntoResponses,
    openapi::{Ref, RefOr, Response},
};

use super::ApiError;

type Responses = BTreeMap<String, RefOr<Response>>;

/// The errors from an endpoint that looks up a record.
impl IntoResponses for ApiError {
    fn responses() -> Responses {
        [ListError::responses(), references(&[("404", "NotFound")])].into_iter().flatten().collect()
    }
}

/// The errors from an endpoint that returns a list.
pub struct ListError;

impl IntoResponses for ListError {
    fn responses() -> Responses {
        let own = [("400", "InvalidRequest"), ("401", "Unauthorized"), ("429", "RateLimited")];
        [PublicError::responses(), references(&own)].into_iter().flatten().collect()
    }
}

/// The errors from an endpoint that takes a batch in its body.
pub struct BodyError;

impl IntoResponses for BodyError {
    fn responses() -> Responses {
        let own = [("413", "ContentTooLarge"), ("415", "UnsupportedMediaType")];
        [ListError::responses(), references(&own)].into_iter().flatten().collect()
    }
}

/// The errors from an endpoint that does not require a key.
pub struct PublicError;

impl IntoResponses for PublicError {
    fn responses() -> Responses {
        references(&[
            ("405", "MethodNotAllowed"),
            ("500", "InternalError"),
            ("503", "ServiceUnavailable"),
        ])
    }
}

/// References to components, by status.
fn references(names: &[(&str, &str)]) -> Responses {
    let reference = |name: &str| Ref::from_response_name(name).into();
    names.iter().map(|(status, name)| ((*status).to_owned(), reference(name))).collect()
}
