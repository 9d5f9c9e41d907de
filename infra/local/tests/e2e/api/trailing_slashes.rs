//! Paths with a slash at their end, as clients write them that join `/v1/carrier/` and an empty code.

use crate::support::service::shared_service;

#[tokio::test]
async fn a_path_without_its_code_is_told_how_to_give_it() {
    let service = shared_service();
    for (path, usage) in [
        ("/v1/carrier/", "ocn is required. Usage: /v1/carrier?ocn=<OCN>"),
        ("/v1/npa/", "npa is required. Usage: /v1/npa?npa=<NPA> or /v1/npa?npa=<NPA>&nxx=<NXX>"),
        ("/v1/npa/415/nxx/", "nxx is required. Usage: /v1/npa/<NPA>/nxx/<NXX>"),
        ("/v1/npa/415/nxx", "nxx is required. Usage: /v1/npa/<NPA>/nxx/<NXX>"),
        ("/v1/format/", "tn is required. Usage: /v1/format?tn=<NUMBER>"),
        ("/v1/lookup/", "tn is required. Usage: /v1/lookup?tn=<NUMBER>"),
    ] {
        service.assert_error(path, 400, "invalid_request", usage).await;
    }
}

#[tokio::test]
async fn a_slash_after_a_path_without_parameters_changes_nothing() {
    let service = shared_service();
    for (path, query) in [
        ("/v1/carriers", "?limit=2"),
        ("/v1/npa", "?npa=415&limit=2"),
        ("/v1/search", "?q=sample&limit=2"),
        ("/v1/format", "?tn=3052345678"),
        ("/health", ""),
        ("/v1/stats", ""),
    ] {
        let expected = service.get(&format!("{path}{query}")).await;
        let response = service.get(&format!("{path}/{query}")).await;
        assert_eq!(response.headers().get("link"), expected.headers().get("link"), "{path}");
        assert_eq!(response.bytes().await.unwrap(), expected.bytes().await.unwrap(), "{path}");
    }
}

#[tokio::test]
async fn a_slash_within_a_number_is_a_part_of_it() {
    let service = shared_service();
    let body = service.ok("/v1/format/305/234/5678/").await;
    assert_eq!(body["input"], "+13052345678");
    let message = "tn must be a 10-digit North American telephone number, got '/'";
    service.assert_error("/v1/lookup//", 400, "invalid_request", message).await;
}

#[tokio::test]
async fn other_paths_with_a_slash_are_unknown_and_need_no_key_to_be_told() {
    let service = shared_service();
    for path in ["/v1/", "/v1/npa/415/", "/v1/npa/415/nxy/", "/v1/carrier//", "/v1/nowhere/"] {
        let response = service.request(path).send().await.unwrap();
        assert_eq!(response.status(), 404, "{path}");
    }
    assert_eq!(service.request("/v1/carrier/").send().await.unwrap().status(), 401);
}
