//! The headers that all responses have, whichever endpoint they come from.

use reqwest::Method;

use crate::support::{
    endpoints::{Endpoint, endpoints},
    service::{Service, http_client, shared_service},
};

#[tokio::test]
async fn every_response_forbids_guessing_its_type_and_tells_what_it_varies_by() {
    let service = shared_service();
    for endpoint in endpoints().into_iter().chain([Endpoint::unknown_paths()]) {
        for sample in endpoint.requests() {
            let method: Method = sample.method.parse().unwrap();
            let mut request =
                http_client().request(method, format!("{}{}", service.base_url, sample.target));
            for (name, value) in &sample.headers {
                request = request.header(name, value);
            }
            let response = request.send().await.unwrap();
            let headers = response.headers();
            assert_eq!(headers["x-content-type-options"], "nosniff", "{}", sample.name);
            assert_eq!(headers.get_all("vary").iter().count(), 1, "{}", sample.name);
            assert_eq!(headers["vary"], "Accept, Accept-Encoding", "{}", sample.name);
            let status = response.status();
            if !status.is_success() && status != 304 {
                assert_eq!(headers["cache-control"], "no-store", "{}", sample.name);
            }
        }
    }
}

#[tokio::test]
async fn health_that_is_degraded_is_not_stored() {
    let service = Service::empty().await;
    for path in ["/health", "/v1/health"] {
        let response = service.request(path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["cache-control"], "no-store", "{path}");
    }
}
