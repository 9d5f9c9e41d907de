//! Headers that every response has.

use serde_json::json;

use crate::support::{
    endpoints::{Endpoint, endpoints},
    service::{Service, header, shared_service},
};

#[tokio::test]
async fn every_response_has_nosniff_and_vary_headers() {
    let service = shared_service();
    for endpoint in endpoints().into_iter().chain([Endpoint::unknown_paths()]) {
        for sample in endpoint.requests() {
            let mut request = service.request_with(sample.method.parse().unwrap(), &sample.target);
            for (name, value) in &sample.headers {
                request = request.header(name, value);
            }
            let response = request.send().await.unwrap();
            let headers = response.headers();
            assert_eq!(header(headers, "x-content-type-options"), "nosniff", "{}", sample.name);
            assert_eq!(headers.get_all("vary").iter().count(), 1, "{}", sample.name);
            assert_eq!(
                header(headers, "vary"),
                "Accept, Accept-Encoding, Accept-Language",
                "{}",
                sample.name
            );
            let status = response.status();
            if !status.is_success() && status != 304 {
                assert_eq!(header(headers, "cache-control"), "no-store", "{}", sample.name);
            }
        }
    }
}

#[tokio::test]
async fn health_is_degraded_and_uncached_before_the_first_import() {
    let service = Service::empty().await;
    for path in ["/health", "/v1/health"] {
        let response = service.request(path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["cache-control"], "no-store", "{path}");
        let expected = json!({
            "status": "degraded", "database": "connected", "last_ingestion": null,
            "version": env!("CARGO_PKG_VERSION")
        });
        assert_eq!(response.text().await.unwrap(), expected.to_string(), "{path}");
    }
}
