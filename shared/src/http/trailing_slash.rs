//! Ignores a trailing slash after routes without parameters. A slash after a parameter is part of its value.

use std::{collections::BTreeSet, sync::Arc};

use axum::{Router, extract::Request, http::Uri};
use lambda_http::tower::ServiceExt;

use crate::gateway::with_path_and_query;

/// Wraps `router` to ignore a trailing slash after `paths` without parameters. A layer on the
/// router would run after routing.
pub(crate) fn ignore_trailing_slashes(
    router: Router,
    paths: impl IntoIterator<Item = String>,
) -> Router {
    let literal_paths: Arc<BTreeSet<String>> =
        Arc::new(paths.into_iter().filter(|path| !path.contains('{')).collect());
    let without_slash = move |mut request: Request| {
        if let Some(uri) = uri_without_slash(request.uri(), &literal_paths) {
            *request.uri_mut() = uri;
        }
        request
    };
    Router::new().fallback_service(router.map_request(without_slash))
}

/// The URI without its path's trailing slash; `None` unless that path is in `literal_paths`.
fn uri_without_slash(uri: &Uri, literal_paths: &BTreeSet<String>) -> Option<Uri> {
    let path = uri.path().strip_suffix('/').filter(|path| literal_paths.contains(*path))?;
    with_path_and_query(uri, &format!("{path}?{}", uri.query().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_slash_after_a_literal_path_is_removed() {
        let paths = BTreeSet::from(["/v1/npa".to_owned()]);
        let uri = |text: &str| uri_without_slash(&text.parse().unwrap(), &paths);
        assert_eq!(uri("/v1/npa/?nxx=234").unwrap(), "/v1/npa?nxx=234");
        assert_eq!(uri("http://a.example/v1/npa/").unwrap().host(), Some("a.example"));
        for other in ["/v1/npa", "/v1/npa//", "/v1/npa/415/", "/v1/", "/"] {
            assert_eq!(uri(other), None, "{other}");
        }
    }
}
