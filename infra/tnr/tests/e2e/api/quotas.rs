//! Tests quotas shared by several containers. The session `quotas` has the counts and responses of one container, and
//! `shared/src/quota` tests containers that cannot write their counts.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::{Method, StatusCode};

use crate::support::{
    fault_proxy::{Fault, FaultProxy},
    keys::key_with_quotas,
    service::Service,
};

#[tokio::test]
async fn batches_to_several_slow_containers_never_exceed_the_quota() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let key = key_with_quotas(&store, Some(60), None).await;
    let containers = [0, 50, 200, 400].map(async |delay| {
        let (endpoint, late) =
            (service.database.endpoint(), Fault::Late(Duration::from_millis(delay)));
        let proxy = FaultProxy::for_operation(endpoint, "UpdateItem", late).await;
        let container = Service::patient(&proxy.endpoint).await;
        // Load the data.
        container.ok("/v1/npa/415?limit=1").await;
        container
    });
    let containers = join_all(containers).await;
    let targets = containers.iter().flat_map(|container| [container; 4]);
    let responses = join_all(targets.map(async |container| {
        let request = container.request_with(Method::POST, "/v1/format").bearer_auth(key.reveal());
        let request = request.header("content-type", "text/plain");
        request.body("+442079460958\n".repeat(10)).send().await.unwrap()
    }))
    .await;
    let admitted = responses.iter().filter(|response| response.status() == StatusCode::OK).count();
    // Each other container has counted one request, so fewer than six may fit.
    assert!((1..=6).contains(&admitted), "{admitted}");
}
