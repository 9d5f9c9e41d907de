//! The routes of functions, asked within the process instead of over a port.
//!
//! The tools of agents and the commands of the terminal answer what the API answers: they ask its own
//! routes. Such a request needs no key, counts against no quota and has no line in the access log;
//! who asks has been admitted before, or sits at the machine.

use std::iter;

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header::CONTENT_TYPE},
    response::IntoResponse,
};
use lambda_http::tower::ServiceExt;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{
    app::{Routes, answer_panics, endpoint_not_found},
    auth::Charge,
    errors::ApiError,
    public_address::PublicAddress,
    state::App,
};

/// The routes of some functions, which answer within the process. It is cheap to clone.
#[derive(Clone)]
pub struct InProcess {
    router: Router,
    /// The address to which answers link.
    address: PublicAddress,
}

/// What a route answers.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl InProcess {
    /// The routes of `functions` on the data of `app`, for a client who sits at the machine.
    pub fn of(functions: impl IntoIterator<Item = Routes>, app: App) -> Self {
        let routers = functions.into_iter().map(Routes::into_unguarded_router);
        let router = routers.fold(Router::new(), Router::merge).fallback(endpoint_not_found);
        Self { router: answer_panics(router.with_state(app)), address: PublicAddress::Nowhere }
    }

    /// The same routes, asked for a client who has reached the service at `address`.
    pub fn at(&self, address: PublicAddress) -> Self {
        Self { router: self.router.clone(), address }
    }

    /// What a `GET` of `path` with these parameters in its query is answered.
    pub async fn get<'a>(
        &self,
        path: &str,
        params: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Answer {
        let Ok(uri) = uri(path, params) else { return Answer::from_error(too_long()).await };
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = uri;
        self.ask(request).await
    }

    /// What a `POST` of JSON to `path` with these parameters in its query is answered. A handler that
    /// counts items makes the `charge`.
    pub async fn post<'a>(
        &self,
        path: &str,
        params: impl IntoIterator<Item = (&'a str, &'a str)>,
        json: String,
        charge: Charge,
    ) -> Answer {
        let Ok(uri) = uri(path, params) else { return Answer::from_error(too_long()).await };
        let mut request = Request::new(Body::from(json));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri;
        let media_type = HeaderValue::from_static("application/json");
        request.headers_mut().insert(CONTENT_TYPE, media_type);
        request.extensions_mut().insert(charge);
        self.ask(request).await
    }

    /// What a request is answered. Its path and query are as a client writes them.
    pub async fn ask(&self, mut request: Request) -> Answer {
        request.extensions_mut().insert(self.address.clone());
        let Ok(response) = self.router.clone().oneshot(request).await;
        Answer::of(response).await
    }
}

impl Answer {
    /// The answer to what no route is asked for.
    pub async fn from_error(error: ApiError) -> Self {
        Self::of(error.into_response()).await
    }

    async fn of(response: axum::response::Response) -> Self {
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap_or_else(|error| {
            tracing::error!(%error, "the body of a response cannot be read");
            Bytes::new()
        });
        Self { status: parts.status, headers: parts.headers, body }
    }
}

/// The URI of `path` with a query, in which nothing but letters and digits stands as it is: no sign
/// is in doubt, as a plus sign would be.
fn uri<'a>(
    path: &str,
    params: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Uri, axum::http::uri::InvalidUri> {
    let encoded = |text: &'a str| utf8_percent_encode(text, NON_ALPHANUMERIC);
    let pairs =
        params.into_iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    let separators = iter::once("?").chain(iter::repeat("&"));
    let query: String =
        separators.zip(pairs).flat_map(|(before, pair)| [before.to_owned(), pair]).collect();
    format!("{path}{query}").parse()
}

/// Of an encoded query only its length can be wrong.
fn too_long() -> ApiError {
    ApiError::invalid("The parameters must have less than 64 KB in all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_of_a_parameter_is_encoded() {
        let params = [("tn", "+1 (305) 234&5678"), ("default country", "é")];
        let uri = uri("/v1/format", params).unwrap().to_string();
        assert_eq!(uri, "/v1/format?tn=%2B1%20%28305%29%20234%265678&default%20country=%C3%A9");
    }

    #[test]
    fn a_path_without_parameters_has_no_query() {
        assert_eq!(uri("/v1/stats", []).unwrap().to_string(), "/v1/stats");
    }

    #[test]
    fn parameters_that_no_url_can_hold_are_refused() {
        assert!(uri("/v1/search", [("q", "x".repeat(70_000).as_str())]).is_err());
    }
}
