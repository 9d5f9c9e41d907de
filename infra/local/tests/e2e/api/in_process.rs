//! In-process requests get the same answers as HTTP requests.

use axum::{body::Body, extract::Request};
use shared::{in_process::InProcess, public_address::PublicAddress};

use crate::support::{
    api_events::HOST,
    endpoints::endpoints,
    service::{sample_app, shared_service},
};

#[tokio::test]
async fn in_process_answers_equal_http_answers() {
    let service = shared_service();
    let routes = InProcess::new(tnr::routes(), sample_app().await)
        .at(PublicAddress::At(format!("https://{HOST}")));
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
