//! Calls the routes of functions in process instead of over a port.
//!
//! Agent tools and terminal commands return what the API returns, by calling its routes. Such a request needs
//! no key, does not count against a quota, and is not in the access log. Its caller was admitted before, or is
//! at the machine.

use axum::{
    Router,
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header::CONTENT_TYPE},
    response::IntoResponse,
};
use futures_util::FutureExt;
use lambda_http::tower::ServiceExt;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{
    auth::Charge,
    body::buffered,
    errors::ApiError,
    public_address::PublicAddress,
    routes::{Routes, catch_panic, endpoint_not_found},
    state::App,
};

/// The routes of some functions, called in process. Cheap to clone.
#[derive(Clone)]
pub struct InProcess {
    router: Router,
    /// The address that links in responses use.
    address: PublicAddress,
}

/// A route's response.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl InProcess {
    /// The routes of `functions` on the data of `app`, for a local client.
    pub fn new(functions: impl IntoIterator<Item = Routes>, app: App) -> Self {
        let merge = |router: Router<App>, routes: Routes| router.merge(routes.router);
        let router = functions.into_iter().fold(Router::new(), merge).fallback(endpoint_not_found);
        Self { router: router.with_state(app), address: PublicAddress::Nowhere }
    }

    /// The same routes, for a client that reached the service at `address`.
    pub fn at(&self, address: PublicAddress) -> Self {
        Self { router: self.router.clone(), address }
    }

    /// Sends a `GET` to `path` with these query parameters.
    pub async fn get<'a>(
        &self,
        path: &str,
        params: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Answer {
        match request(path, params) {
            Ok(request) => self.ask(request).await,
            Err(error) => Answer::from_error(error).await,
        }
    }

    /// Sends a `POST` of JSON to `path` with these query parameters. A handler that counts items makes the
    /// `charge`.
    pub async fn post<'a>(
        &self,
        path: &str,
        params: impl IntoIterator<Item = (&'a str, &'a str)>,
        json: String,
        charge: Charge,
    ) -> Answer {
        let mut request = match request(path, params) {
            Ok(request) => request.map(|_| Body::from(json)),
            Err(error) => return Answer::from_error(error).await,
        };
        *request.method_mut() = Method::POST;
        let media_type = HeaderValue::from_static("application/json");
        request.headers_mut().insert(CONTENT_TYPE, media_type);
        request.extensions_mut().insert(charge);
        self.ask(request).await
    }

    /// Sends a request. Its path and query are written as a client would.
    pub async fn ask(&self, mut request: Request) -> Answer {
        request.extensions_mut().insert(self.address.clone());
        let answered = self.router.clone().oneshot(request);
        Answer::read(catch_panic(answered.map(|Ok(response)| response)).await).await
    }
}

impl Answer {
    /// The response of a route that rejects a request.
    pub async fn from_error(error: ApiError) -> Self {
        Self::read(error.into_response()).await
    }

    async fn read(response: axum::response::Response) -> Self {
        let (parts, body) = buffered(response).await;
        Self { status: parts.status, headers: parts.headers, body }
    }
}

/// A `GET` of `path` with a query. Everything but letters and digits is encoded, so a plus sign is not read
/// as a space.
fn request<'a>(
    path: &str,
    params: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Request, ApiError> {
    let encoded = |text: &'a str| utf8_percent_encode(text, NON_ALPHANUMERIC);
    let pair = |(name, value)| format!("{}={}", encoded(name), encoded(value));
    let pairs: Vec<String> = params.into_iter().map(pair).collect();
    let separator = if pairs.is_empty() { "" } else { "?" };
    let uri = format!("{path}{separator}{}", pairs.join("&")).parse::<Uri>();
    let mut request = Request::new(Body::empty());
    // An encoded query can only be too long.
    *request.uri_mut() =
        uri.map_err(|_| ApiError::invalid("The parameters must have less than 64 KB in all"))?;
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_in_parameters_are_encoded() {
        let uri = |params: &[(&'static str, &'static str)]| {
            let request = request("/v1/format", params.iter().copied());
            request.unwrap().uri().to_string()
        };
        assert_eq!(
            uri(&[("tn", "+1 (305) 234&5678"), ("default country", "é")]),
            "/v1/format?tn=%2B1%20%28305%29%20234%265678&default%20country=%C3%A9"
        );
        assert_eq!(uri(&[]), "/v1/format");
    }

    #[test]
    fn parameters_too_long_for_a_url_are_rejected() {
        let long = "x".repeat(70_000);
        assert!(request("/v1/search", [("q", &*long)]).is_err());
    }
}
