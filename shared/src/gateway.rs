//! Restores the URL that the client wrote from the event of API Gateway.
//!
//! An HTTP API decodes the path before it sets `rawPath`. A `?` or `#` in a phone number would cut
//! such a URL, and a `/` would lead to another route. The path parameters of the event still have
//! the whole values. `cargo lambda watch` and REST APIs do not decode the path.

use axum::http::Uri;
use lambda_http::{
    Request, RequestExt, aws_lambda_events::query_map::QueryMap, request::RequestContext,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// The request with the URL that the client wrote.
pub fn restore_path(mut request: Request) -> Request {
    let Some(path_and_query) = original_path_and_query(&request) else { return request };
    match path_and_query.parse::<Uri>() {
        Ok(uri) => *request.uri_mut() = uri,
        // The text of the URL is left out, since a client wrote it.
        Err(error) => tracing::warn!(%error, "the URL of a request cannot be restored"),
    }
    request
}

/// The path and the query that the client wrote; `None` if the request has them already.
fn original_path_and_query(request: &Request) -> Option<String> {
    let path = match request.request_context_ref()? {
        RequestContext::ApiGatewayV2(context) => {
            let (_method, route) = context.route_key.as_deref()?.split_once(' ')?;
            routed_path(route, request.path_parameters_ref()?)?
        }
        // The URI of the request begins with the stage, and this path does not.
        RequestContext::ApiGatewayV1(_) => request.raw_http_path().to_owned(),
        _ => return None,
    };
    Some(format!("{path}?{}", original_query(request)))
}

/// The path of a route with the encoded values of its parameters.
fn routed_path(route: &str, parameters: &QueryMap) -> Option<String> {
    let fill_in = |segment: &str| match segment.strip_prefix('{') {
        None => Some(segment.to_owned()),
        Some(name) => {
            let value = parameters.first(name.trim_end_matches(['+', '}']))?;
            Some(utf8_percent_encode(value, NON_ALPHANUMERIC).to_string())
        }
    };
    Some(route.split('/').map(fill_in).collect::<Option<Vec<_>>>()?.join("/"))
}

/// The query as the client wrote it, or an equal one if the event has only the decoded parameters.
fn original_query(request: &Request) -> String {
    let has_original =
        matches!(request.request_context_ref(), Some(RequestContext::ApiGatewayV2(_)))
            && !request.raw_http_path().contains(['?', '#']);
    if has_original {
        return request.uri().query().unwrap_or_default().to_owned();
    }
    let parameters = request.query_string_parameters_ref().into_iter().flat_map(QueryMap::iter);
    // A space is not encoded as a plus sign, since a plus sign may begin a phone number.
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(parameters)
        .finish()
        .replace('+', "%20")
}
