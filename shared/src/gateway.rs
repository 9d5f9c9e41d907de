//! API Gateway events: the URL that the client sent, and whether IAM authorized the request.
//!
//! An HTTP API decodes the path before it sets `rawPath`. A `?` or `#` in a phone number would then end the path, and a
//! `/` would lead to another route. The event's path parameters contain the full values, which replace it.
//! `cargo lambda watch` does not decode the path.
//!
//! A named stage or a custom domain's base path comes before the route's path. It is stripped from the path, and added
//! to the targets of `Link` headers. Behind another proxy, set the base path in the local server's options.

use axum::{
    Router,
    extract::Request as AxumRequest,
    http::{Extensions, HeaderMap, HeaderValue, Uri, header::LINK},
};
use lambda_http::{
    Request, RequestExt,
    aws_lambda_events::{apigw::ApiGatewayV2httpRequestContext, query_map::QueryMap},
    request::RequestContext,
    tower::ServiceExt,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// The stage or base path before the route's path; empty if the client did not send one.
#[derive(Clone)]
pub(crate) struct PathPrefix(pub(crate) String);

/// Restores the URL that the client sent, without the stage or base path.
pub fn restore_path(mut request: Request) -> Request {
    let Some((prefix, path)) = restored_path(&request) else { return request };
    match format!("{path}?{}", original_query(&request)).parse::<Uri>() {
        Ok(uri) => *request.uri_mut() = uri,
        // The URL is not logged, since it may contain a phone number or key.
        Err(error) => tracing::warn!(%error, "failed to restore a request's URL"),
    }
    request.extensions_mut().insert(PathPrefix(prefix));
    request
}

/// The request's API Gateway context; `None` if it did not come through API Gateway. HTTP clients cannot set it.
pub(crate) fn event_context(request: &Extensions) -> Option<&ApiGatewayV2httpRequestContext> {
    match request.get::<RequestContext>()? {
        RequestContext::ApiGatewayV2(context) => Some(context),
        _ => None,
    }
}

/// Returns `true` if IAM authorized the request, either in API Gateway or by permission to invoke the function.
pub(crate) fn is_authorized_by_iam(request: &AxumRequest) -> bool {
    let authorizer = event_context(request.extensions()).and_then(|it| it.authorizer.as_ref());
    authorizer.is_some_and(|authorizer| authorizer.iam.is_some())
}

/// Adds the path prefix to the targets of `Link` headers.
pub(crate) fn prefix_links(headers: &mut HeaderMap, PathPrefix(prefix): &PathPrefix) {
    if let Some(links) = headers.get_mut(LINK)
        && let Some(prefixed) =
            links.to_str().ok().map(|text| text.replace("</", &format!("<{prefix}/")))
        && let Ok(value) = HeaderValue::try_from(prefixed)
    {
        *links = value;
    }
}

/// Serves `service` behind a proxy that publishes it under `base_path`, whether or not the proxy strips that path.
pub fn with_base_path(base_path: String, service: Router) -> Router {
    let without_base_path = move |mut request: AxumRequest| {
        if let Some(uri) = strip_base_path(&base_path, request.uri()) {
            *request.uri_mut() = uri;
        }
        request.extensions_mut().insert(PathPrefix(base_path.clone()));
        request
    };
    Router::new().fallback_service(service.map_request(without_base_path))
}

/// The URI without `base_path`; `None` if its path does not start with it.
fn strip_base_path(base_path: &str, uri: &Uri) -> Option<Uri> {
    let path_and_query = uri.path_and_query()?.as_str().strip_prefix(base_path)?;
    match path_and_query.chars().next() {
        Some('/') => with_path_and_query(uri, path_and_query),
        // The base path itself maps to the root.
        None | Some('?') => with_path_and_query(uri, &format!("/{path_and_query}")),
        Some(_) => None,
    }
}

/// Replaces the path and query, but not the authority, which is the host in HTTP/2.
pub(crate) fn with_path_and_query(uri: &Uri, path_and_query: &str) -> Option<Uri> {
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path_and_query.parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// The path that the client sent, split into prefix and route path; `None` if the request already has that path.
fn restored_path(request: &Request) -> Option<(String, String)> {
    let context = event_context(request.extensions())?;
    let Some((_method, route)) = context.route_key.as_deref()?.split_once(' ') else {
        return path_without_stage(request, context.stage.as_deref()?);
    };
    let (raw_path, path) =
        (request.raw_http_path(), routed_path(route, request.path_parameters_ref())?);
    Some((raw_path[..route_start(route, raw_path)].to_owned(), path))
}

/// The offset of a route's path in the full path, found by the part before its first parameter. The root path is
/// at the end.
fn route_start(route: &str, full_path: &str) -> usize {
    if route == "/" {
        return full_path.trim_end_matches('/').len();
    }
    let literal = route.split('{').next().unwrap_or_default();
    full_path.find(literal).unwrap_or_default()
}

/// The prefix and the path after it, for an event without a route; `None` if the path does not start with the stage, as
/// with `$default`. The request URL starts with the stage even if the client did not send it.
fn path_without_stage(request: &Request, stage: &str) -> Option<(String, String)> {
    let stage = format!("/{stage}");
    let path = request.uri().path().strip_prefix(&stage)?;
    let is_sent = request.raw_http_path().starts_with(&stage);
    let prefix = if is_sent { stage } else { String::new() };
    Some((prefix, path.to_owned()))
}

/// A route's path with encoded parameter values.
fn routed_path(route: &str, parameters: Option<&QueryMap>) -> Option<String> {
    let fill_in = |segment: &str| match segment.strip_prefix('{') {
        None => Some(segment.to_owned()),
        Some(name) => {
            let value = parameters?.first(name.trim_end_matches(['+', '}']))?;
            Some(utf8_percent_encode(value, NON_ALPHANUMERIC).to_string())
        }
    };
    Some(route.split('/').map(fill_in).collect::<Option<Vec<_>>>()?.join("/"))
}

/// The query that the client sent. If the path contains a `?` or `#`, only the event's decoded parameters are left.
fn original_query(request: &Request) -> String {
    if !request.raw_http_path().contains(['?', '#']) {
        return request.uri().query().unwrap_or_default().to_owned();
    }
    let parameters = request.query_string_parameters_ref().into_iter().flat_map(QueryMap::iter);
    // A plus sign may start a phone number, so spaces are not encoded as plus signs.
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(parameters)
        .finish()
        .replace('+', "%20")
}
