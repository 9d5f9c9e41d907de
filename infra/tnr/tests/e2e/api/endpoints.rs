//! Tests keys at every endpoint. `shared/src/respond` has snapshots of the responses without one.

use reqwest::StatusCode;

use crate::support::{endpoints::endpoints, service::shared_service};

#[tokio::test]
async fn only_protected_endpoints_require_a_key() {
    let service = shared_service();
    for endpoint in endpoints() {
        let example = endpoint.example();
        let response = service.request_like(&example, example.path()).send().await.unwrap();
        let expected = if endpoint.needs_key() { StatusCode::UNAUTHORIZED } else { StatusCode::OK };
        assert_eq!(response.status(), expected, "{endpoint:?}");
    }
}
