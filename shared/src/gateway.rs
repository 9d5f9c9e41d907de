//! What API Gateway hands over, turned back into the URL the client wrote.
//!
//! An HTTP API decodes the path before it fills `rawPath`, so that a `?` or `#` in a phone number
//! would cut the URL and a `/` miss its route. The event's path parameters still hold each value
//! whole. `cargo lambda watch` and REST APIs leave the path as it was written.

use axum::http::Uri;
use lambda_http::{Request, RequestExt, request::RequestContext};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// The request with its path as the client encoded it.
pub fn restore_path(mut request: Request) -> Request {
    if let Some(uri) = written_uri(&request) {
        *request.uri_mut() = uri;
    }
    request
}

/// The URI made anew from the route and its parameters; `None` where the event names none.
fn written_uri(request: &Request) -> Option<Uri> {
    let RequestContext::ApiGatewayV2(context) = request.request_context_ref()? else { return None };
    let (_method, route) = context.route_key.as_deref()?.split_once(' ')?;
    let parameters = request.path_parameters_ref()?;
    let segment = |segment: &str| match segment.strip_prefix('{') {
        None => Some(segment.to_owned()),
        Some(name) => {
            let value = parameters.first(name.trim_end_matches(['+', '}']))?;
            Some(utf8_percent_encode(value, NON_ALPHANUMERIC).to_string())
        }
    };
    let path = route.split('/').map(segment).collect::<Option<Vec<_>>>()?.join("/");
    // the query of the request's URI begins too early where the path held a `?` or `#`
    let query = request.query_string_parameters_ref().into_iter().flat_map(|query| query.iter());
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    format!("{path}?{query}").parse().ok()
}
