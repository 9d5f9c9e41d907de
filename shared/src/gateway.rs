//! What API Gateway hands over, turned back into the URL the client wrote.
//!
//! An HTTP API decodes the path before it fills `rawPath`, so that a `?` or `#` in a phone number
//! would cut the URL and a `/` miss its route. The event's path parameters still hold each value
//! whole. `cargo lambda watch` and REST APIs leave the path as it was written.

use axum::http::Uri;
use lambda_http::{
    Request, RequestExt, aws_lambda_events::query_map::QueryMap, request::RequestContext,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// The request with its path as the client encoded it.
pub fn restore_path(mut request: Request) -> Request {
    if let Some(uri) = written_uri(&request) {
        *request.uri_mut() = uri;
    }
    request
}

/// The URI made anew; `None` where it is as the client wrote it.
fn written_uri(request: &Request) -> Option<Uri> {
    let path = match request.request_context_ref()? {
        RequestContext::ApiGatewayV2(context) => {
            let (_method, route) = context.route_key.as_deref()?.split_once(' ')?;
            routed_path(route, request.path_parameters_ref()?)?
        }
        // without the stage that the request's URI begins with
        RequestContext::ApiGatewayV1(_) => request.raw_http_path().to_owned(),
        _ => return None,
    };
    format!("{path}?{}", written_query(request)).parse().ok()
}

/// The path of a route with its parameters filled in.
fn routed_path(route: &str, parameters: &QueryMap) -> Option<String> {
    let segment = |segment: &str| match segment.strip_prefix('{') {
        None => Some(segment.to_owned()),
        Some(name) => {
            let value = parameters.first(name.trim_end_matches(['+', '}']))?;
            Some(utf8_percent_encode(value, NON_ALPHANUMERIC).to_string())
        }
    };
    Some(route.split('/').map(segment).collect::<Option<Vec<_>>>()?.join("/"))
}

/// The query as it was written, or where the event only has it decoded, one that says the same.
fn written_query(request: &Request) -> String {
    let whole = matches!(request.request_context_ref(), Some(RequestContext::ApiGatewayV2(_)))
        && !request.raw_http_path().contains(['?', '#']);
    if whole {
        return request.uri().query().unwrap_or_default().to_owned();
    }
    let query = request.query_string_parameters_ref().into_iter().flat_map(|query| query.iter());
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    // a space has to stay one: a plus may begin a phone number
    query.replace('+', "%20")
}
