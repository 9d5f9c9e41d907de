//! The parts of an API Gateway event beside the request: the URL that the client wrote, and whether
//! IAM has authorized the request.
//!
//! An HTTP API decodes the path before it sets `rawPath`. A `?` or `#` in a phone number would cut
//! such a URL, and a `/` would lead to another route. The path parameters of the event still have
//! the whole values. `cargo lambda watch` and REST APIs do not decode the path.
//!
//! A named stage and a base path of a custom domain stand before the path of a route, and the
//! functions do not know them. The path begins where the route of the event does; the stage or base
//! path before it is put before the targets of `Link` headers again. Behind another proxy the base
//! path is a setting of the local server.

use axum::{
    Router,
    extract::Request as AxumRequest,
    http::{HeaderValue, Uri, header::LINK},
    middleware::{Next, from_fn},
    response::Response,
};
use lambda_http::{
    Request, RequestExt,
    aws_lambda_events::query_map::QueryMap,
    request::RequestContext::{self, ApiGatewayV1, ApiGatewayV2},
    tower::ServiceExt,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Stage or base path that the client wrote before the path of a route, or nothing.
#[derive(Clone)]
pub(crate) struct PathPrefix(pub(crate) String);

/// The request with the URL that the client wrote, from the path of the route on.
pub fn restore_path(mut request: Request) -> Request {
    let Some((prefix, path)) = restored_path(&request) else { return request };
    match format!("{path}?{}", original_query(&request)).parse::<Uri>() {
        Ok(uri) => *request.uri_mut() = uri,
        // The text of the URL is left out, since a client wrote it.
        Err(error) => tracing::warn!(%error, "the URL of a request cannot be restored"),
    }
    request.extensions_mut().insert(PathPrefix(prefix));
    request
}

/// Returns `true` if the request came as an event of API Gateway, and not over a port of this process.
pub(crate) fn is_behind_gateway(request: &AxumRequest) -> bool {
    request.extensions().get::<RequestContext>().is_some()
}

/// Returns `true` if IAM has authorized the request. API Gateway writes so for a route with IAM authorization, and
/// so may whoever has IAM's permission to invoke the function. Nothing that a client sends over HTTP
/// can become a part of the request context.
pub(crate) fn is_authorized_by_iam(request: &AxumRequest) -> bool {
    match request.extensions().get::<RequestContext>() {
        Some(ApiGatewayV2(context)) => {
            context.authorizer.as_ref().is_some_and(|authorizer| authorizer.iam.is_some())
        }
        _ => false,
    }
}

/// Sets the prefix that the client wrote before the targets of `Link` headers.
pub async fn prefix_links(request: AxumRequest, next: Next) -> Response {
    let prefix = request.extensions().get::<PathPrefix>().cloned();
    let mut response = next.run(request).await;
    if let (Some(PathPrefix(prefix)), Some(links)) = (prefix, response.headers_mut().get_mut(LINK))
        && let Some(prefixed) =
            links.to_str().ok().map(|text| text.replace("</", &format!("<{prefix}/")))
        && let Ok(value) = HeaderValue::try_from(prefixed)
    {
        *links = value;
    }
    response
}

/// The same `service` below the path `base_path`, where a proxy offers it to clients. The proxy may
/// pass on that part of the path or leave it out.
pub fn below_base_path(base_path: String, service: Router) -> Router {
    let without_base_path = move |mut request: AxumRequest| {
        if let Some(uri) = uri_below(&base_path, request.uri()) {
            *request.uri_mut() = uri;
        }
        request.extensions_mut().insert(PathPrefix(base_path.clone()));
        request
    };
    let service = service.layer(from_fn(prefix_links)).map_request(without_base_path);
    Router::new().fallback_service(service)
}

/// The URI without `base_path`; `None` if its path does not begin with that.
fn uri_below(base_path: &str, uri: &Uri) -> Option<Uri> {
    let path_and_query = uri.path_and_query()?.as_str().strip_prefix(base_path)?;
    match path_and_query.chars().next() {
        Some('/') => with_path_and_query(uri, path_and_query),
        // The base path itself is the root, which may be written without its slash.
        None | Some('?') => with_path_and_query(uri, &format!("/{path_and_query}")),
        Some(_) => None,
    }
}

/// The URI with another path and query. It keeps its authority, which is the host of HTTP/2.
pub(crate) fn with_path_and_query(uri: &Uri, path_and_query: &str) -> Option<Uri> {
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path_and_query.parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// The path that the client wrote: its prefix, and the part that a function knows. `None` if the URL of the
/// request has it already.
fn restored_path(request: &Request) -> Option<(String, String)> {
    let raw_path = request.raw_http_path();
    match request.request_context_ref()? {
        ApiGatewayV2(context) => match context.route_key.as_deref()?.split_once(' ') {
            Some((_method, route)) => {
                let path = routed_path(route, request.path_parameters_ref())?;
                Some((raw_path[..start_of(route, raw_path)].to_owned(), path))
            }
            None => path_without_stage(request, context.stage.as_deref()?),
        },
        ApiGatewayV1(context) => {
            let route = context.resource_path.as_deref().unwrap_or_default();
            let path = match &raw_path[start_of(route, raw_path)..] {
                "" => "/",
                path => path,
            };
            // This path has the stage that the other one lacks.
            let whole_path = context.path.as_deref().unwrap_or(raw_path);
            let prefix = whole_path.strip_suffix(path).unwrap_or_default();
            Some((prefix.to_owned(), path.to_owned()))
        }
        _ => None,
    }
}

/// Start of a route's path in a whole path: that of the part before its first parameter.
/// The root is the end of the whole path, and clients may leave its slash out behind a prefix.
fn start_of(route: &str, whole_path: &str) -> usize {
    if route == "/" {
        return whole_path.trim_end_matches('/').len();
    }
    let literal = route.split('{').next().unwrap_or_default();
    whole_path.find(literal).unwrap_or_default()
}

/// The path after the stage, for an event without a route; `None` if it has no named stage. The URL
/// of the request always begins with the stage, even if the client did not write it.
fn path_without_stage(request: &Request, stage: &str) -> Option<(String, String)> {
    let stage = format!("/{stage}");
    let path = request.uri().path().strip_prefix(&stage)?;
    let is_written = request.raw_http_path().starts_with(&stage);
    let prefix = if is_written { stage } else { String::new() };
    Some((prefix, path.to_owned()))
}

/// The path of a route with the encoded values of its parameters.
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

/// The query as the client wrote it, or an equal one if the event has only the decoded parameters.
fn original_query(request: &Request) -> String {
    let has_original = matches!(request.request_context_ref(), Some(ApiGatewayV2(_)))
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
