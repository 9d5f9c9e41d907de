//! The response to an unknown path: a page for browsers, and JSON for other clients.

use std::sync::LazyLock;

use axum::{
    Extension,
    http::{
        HeaderMap, StatusCode, Uri,
        header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY},
    },
    response::{Html, IntoResponse, Response},
};

use crate::{
    errors::ApiError,
    gateway::PathPrefix,
    http::{inline_source, prefers_html},
    routes::endpoint_not_found,
};

const PAGE: &str = include_str!("not_found.html");

/// Allows only the page's style.
static PAGE_POLICY: LazyLock<String> = LazyLock::new(|| {
    let (_, rest) = PAGE.split_once("<style>").expect("the page has a style");
    let (style, _) = rest.split_once("</style>").expect("the style ends");
    let style = inline_source(style);
    format!(
        "default-src 'none'; style-src {style}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
});

/// The page's links start with the base path or stage, since an unknown path may have any depth.
pub(crate) async fn not_found(
    uri: Uri,
    prefix: Option<Extension<PathPrefix>>,
    headers: HeaderMap,
) -> Response {
    let error = endpoint_not_found(uri).await;
    if !prefers_html(&headers) || !matches!(error, ApiError::NotFound(_)) {
        return error.into_response();
    }
    let prefix = prefix.map(|Extension(PathPrefix(prefix))| prefix).unwrap_or_default();
    let headers =
        [(CONTENT_SECURITY_POLICY, PAGE_POLICY.as_str()), (REFERRER_POLICY, "no-referrer")];
    (StatusCode::NOT_FOUND, headers, Html(PAGE.replace("{{prefix}}", &prefix))).into_response()
}

#[cfg(test)]
mod tests {
    use axum::{
        body::{Body, to_bytes},
        extract::Request,
    };
    use lambda_http::tower::ServiceExt;
    use store::Store;

    use super::*;
    use crate::{app::service, gateway::with_base_path, state::App};

    #[tokio::test]
    async fn only_browsers_get_a_page_and_its_links_have_the_base_path() {
        let app = App::with_store(Store::unreachable());
        let service = with_base_path("/numbers".to_owned(), service([], app));
        for (accept, expected) in [
            ("text/html,*/*;q=0.8", r#"<a href="/numbers/docs">"#),
            ("application/json", r#"{"error":"not_found","#),
            ("*/*", r#"{"error":"not_found","#),
        ] {
            let request = Request::get("/numbers/a/b").header("host", "a.example");
            let request = request.header("accept", accept).body(Body::empty()).unwrap();
            let response = service.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status(), StatusCode::NOT_FOUND);
            let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            let body = str::from_utf8(&body).unwrap();
            assert!(body.contains(expected), "{accept}: {body}");
            assert!(!body.contains("{{"), "{body}");
        }
    }
}
