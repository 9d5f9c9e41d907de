//! In-process requests get the same answers as HTTP requests.

use axum::{body::Body, extract::Request};
use shared::{in_process::InProcess, public_address::PublicAddress};

use crate::support::{
    api_events::HOST,
    endpoints::endpoints,
    service::{sample_app, shared_service},
};

async fn routes_in_process() -> InProcess {
    InProcess::new(tnr::routes(), sample_app().await)
        .at(PublicAddress::At(format!("https://{HOST}")))
}

#[tokio::test]
async fn in_process_answers_equal_http_answers() {
    let service = shared_service();
    let routes = routes_in_process().await;
    let requests = endpoints().into_iter().flat_map(|endpoint| endpoint.requests());
    for request in requests.filter(|request| !request.is_refused() && request.method == "GET") {
        let over_http = service.get(&request.target).await;
        let (status, link) = (over_http.status(), over_http.headers().get("link").cloned());
        let over_http = over_http.bytes().await.unwrap();
        let request = Request::get(&request.target).body(Body::empty()).unwrap();
        let target = request.uri().to_string();
        let answer = routes.ask(request).await;
        assert_eq!((answer.status, answer.headers.get("link")), (status, link.as_ref()));
        assert_eq!(answer.body, over_http, "{target}");
    }
}

#[tokio::test]
async fn in_process_errors_are_api_errors() {
    let routes = routes_in_process().await;
    for (path, params) in [("/v1/unknown", None), ("/v1/npa", Some(("npa", "1")))] {
        let answer = routes.get(path, params).await;
        let query = params.map(|(name, value)| format!("?{name}={value}")).unwrap_or_default();
        let over_http = shared_service().get(&format!("{path}{query}")).await;
        assert_eq!(answer.status, over_http.status(), "{path}");
        assert_eq!(answer.body, over_http.bytes().await.unwrap(), "{path}");
    }
    let too_long = "1".repeat(70_000);
    let answer = routes.get("/v1/format", [("tn", too_long.as_str())]).await;
    assert_eq!(answer.status, 400);
}
