//! Calls routes in process instead of over the network, for agent tools and terminal commands.
//!
//! Such a request does not need a key, and does not appear in the access log. It comes from an operator, or from a
//! caller who was already authenticated and charged. Handlers raise that charge if the work costs more.

use axum::{
    Router,
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, Method, StatusCode, Uri, header::CONTENT_TYPE},
    response::IntoResponse,
};
use futures_util::FutureExt;
use lambda_http::tower::ServiceExt;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{
    auth::Charge,
    body::buffer_body,
    errors::ApiError,
    public_address::PublicAddress,
    routes::{Routes, catch_panic, endpoint_not_found},
    state::App,
};

/// Routes to call in process. Cheap to clone.
#[derive(Clone)]
pub struct InProcessRoutes {
    router: Router,
    address: PublicAddress,
}

#[derive(Debug, Clone)]
pub struct RouteResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl InProcessRoutes {
    /// Creates routes for a local client.
    pub fn new(functions: impl IntoIterator<Item = Routes>, app: App) -> Self {
        let merge = |router: Router<App>, routes: Routes| router.merge(routes.router());
        let router = functions.into_iter().fold(Router::new(), merge).fallback(endpoint_not_found);
        Self { router: router.with_state(app), address: PublicAddress::default() }
    }

    /// Returns the same routes for a client that reached the service at `address`, which links then use.
    pub fn at(&self, address: PublicAddress) -> Self {
        Self { router: self.router.clone(), address }
    }

    /// Sends a `GET` with these query parameters. Its handler may raise the `charge`.
    pub async fn get<'a>(
        &self,
        path: &str,
        params: impl IntoIterator<Item = (&'a str, &'a str)>,
        charge: Charge,
    ) -> RouteResponse {
        self.call(path, params, None, charge).await
    }

    /// Sends a `POST` with this JSON, or a `GET` without it. Its handler may raise the `charge`.
    pub async fn call<'a>(
        &self,
        path: &str,
        params: impl IntoIterator<Item = (&'a str, &'a str)>,
        json: Option<String>,
        charge: Charge,
    ) -> RouteResponse {
        let uri = match uri(path, params) {
            Ok(uri) => uri,
            Err(error) => return RouteResponse::from_error(error).await,
        };
        let method = if json.is_some() { Method::POST } else { Method::GET };
        let request = Request::builder().method(method).uri(uri).extension(charge);
        let request = request.header(CONTENT_TYPE, "application/json");
        let request = request.body(json.map_or_else(Body::empty, Body::from));
        self.send(request.expect("the parts are valid")).await
    }

    /// Sends a request whose path and query are already percent-encoded.
    pub async fn send(&self, mut request: Request) -> RouteResponse {
        request.extensions_mut().insert(self.address.clone());
        let response = self.router.clone().oneshot(request).map(|Ok(response)| response);
        RouteResponse::read(catch_panic(response).await).await
    }
}

impl RouteResponse {
    /// The response of a route that failed with `error`.
    pub async fn from_error(error: ApiError) -> Self {
        Self::read(error.into_response()).await
    }

    async fn read(response: axum::response::Response) -> Self {
        let (parts, body) = buffer_body(response).await;
        Self { status: parts.status, headers: parts.headers, body }
    }
}

/// Builds a URI. A parameter named in the path, such as `{npa}`, goes into the path, and the others into the query.
/// Encodes everything except letters and digits, so that a plus sign does not become a space.
fn uri<'a>(
    path: &str,
    params: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Uri, ApiError> {
    let encode = |text: &'a str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let (mut path, mut pairs) = (path.to_owned(), Vec::new());
    for (name, value) in params {
        match path.replace(&format!("{{{name}}}"), &encode(value)) {
            filled if filled != path => path = filled,
            _ => pairs.push(format!("{}={}", encode(name), encode(value))),
        }
    }
    let separator = if pairs.is_empty() { "" } else { "?" };
    // Because everything is encoded, the only possible error is that the URI is too long.
    format!("{path}{separator}{}", pairs.join("&"))
        .parse()
        .map_err(|_| ApiError::invalid("The parameters must be less than 64 KB in total"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_in_parameters_are_encoded() {
        let params = [("tn", "+1 (305) 234&5678"), ("default country", "é")];
        assert_eq!(
            uri("/v1/format", params).unwrap(),
            "/v1/format?tn=%2B1%20%28305%29%20234%265678&default%20country=%C3%A9"
        );
        assert_eq!(uri("/v1/format", []).unwrap(), "/v1/format");
        assert!(uri("/v1/search", [("q", &*"x".repeat(70_000))]).is_err(), "too long for a URL");
    }
}
