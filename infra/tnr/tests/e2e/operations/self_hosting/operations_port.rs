//! The operations port: metrics, readiness and liveness.

use std::collections::BTreeSet;

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::{
    databases::sample_folder,
    fault_proxy::{Fault, FaultProxy},
    processes::wait_until,
    program::Server,
    service::{KEY, Service, http_client},
};

const OPTIONS: [&str; 4] = ["--ops-address", "127.0.0.1:0", "--key", KEY];

async fn text(url: &str) -> (StatusCode, String) {
    let response = http_client().get(url).send().await.unwrap();
    (response.status(), response.text().await.unwrap())
}

fn names(metrics: &str) -> BTreeSet<&str> {
    let declared = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    declared.filter_map(|declaration| Some(declaration.split_once(' ')?.0)).collect()
}

fn value(metrics: &str, series: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{series} is not in\n{metrics}")).parse().unwrap()
}

#[tokio::test]
async fn metrics_cover_requests_data_and_the_process() {
    let data_dir = sample_folder();
    let server = Server::on(&data_dir, &OPTIONS).await;
    let operations = server.operations_url();
    for path in ["/v1/npa/415?limit=1", "/v1/npa/415?limit=0", "/v1/npa/415/nxx/206", "/nowhere"] {
        server.get(path).await;
    }
    let response = http_client().get(format!("{operations}/metrics")).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let metrics = response.text().await.unwrap();
    let document = include_str!("../../../../../../docs/SELF-HOSTING.md");
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let documented: BTreeSet<&str> = rows
        .filter(|name| name.starts_with("tnr_") || *name == "process_start_time_seconds")
        .collect();
    assert_eq!(names(&metrics), documented);
    let requests = |route: &str, status: &str| {
        let labels = format!(r#"{{method="GET",route="{route}",status="{status}"}}"#);
        value(&metrics, &format!("tnr_http_requests_total{labels}"))
    };
    assert_eq!((requests("/v1/npa/{npa}", "2xx"), requests("/v1/npa/{npa}", "4xx")), (1.0, 1.0));
    assert_eq!(requests("$default", "4xx"), 1.0);
    let latency =
        |part: &str| value(&metrics, &format!("tnr_http_request_duration_seconds_{part}"));
    assert_eq!(latency(r#"count{route="/v1/npa/{npa}"}"#), 2.0);
    assert_eq!(latency(r#"bucket{route="/v1/npa/{npa}",le="10"}"#), 2.0);
    assert_eq!(value(&metrics, "tnr_data_records"), 3484.0);
    assert_eq!(value(&metrics, "tnr_database_up"), 1.0);
    assert_eq!(value(&metrics, "tnr_ready"), 1.0);
    assert_eq!(value(&metrics, "tnr_http_requests_in_flight"), 0.0);
    assert!(value(&metrics, "tnr_dynamodb_read_capacity_units_total") >= 1.0);
    assert!(value(&metrics, "tnr_data_age_seconds") < 86_400.0);
    // Only labels: values such as the start time of the process, and the data version, can contain 415 by chance.
    let series = metrics.lines().filter(|line| !line.starts_with("tnr_data_info"));
    let mut labels = series.filter_map(|line| Some(line.rsplit_once(' ')?.0));
    assert!(
        !labels.any(|labels| labels.contains("415") || labels.contains("nowhere")),
        "{metrics}"
    );
}

#[tokio::test]
async fn the_operations_port_rejects_requests_from_web_pages() {
    let service = Service::empty().await;
    for (address, named_host) in
        [("127.0.0.1:0", StatusCode::FORBIDDEN), ("0.0.0.0:0", StatusCode::OK)]
    {
        let server = Server::at(service.database.endpoint(), &["--ops-address", address]).await;
        let metrics = format!("{}/metrics", server.operations_url());
        for (header, value, expected) in [
            ("host", "example.com", named_host),
            ("host", "a/b", StatusCode::BAD_REQUEST),
            ("host", "localhost", StatusCode::OK),
            ("origin", "http://localhost", StatusCode::FORBIDDEN),
        ] {
            let response = http_client().get(&metrics).header(header, value).send().await.unwrap();
            assert_eq!(response.status(), expected, "{address} {header}: {value}");
        }
    }
}

#[tokio::test]
async fn servers_without_data_are_live_but_not_ready() {
    let service = Service::empty().await;
    let server = Server::at(service.database.endpoint(), &OPTIONS).await;
    let operations = server.operations_url();
    let ready = "no data is loaded: nothing has been imported yet\n";
    for (path, status, body) in [("live", 200, "live\n"), ("ready", 503, ready)] {
        let (found, text) = text(&format!("{operations}/{path}")).await;
        assert_eq!((found.as_u16(), &*text), (status, body), "{path}");
        assert_eq!(server.response(&format!("/{path}"), KEY).await.status(), 404, "{path}");
    }
    // MCP reports a failed tool as a success, which must not hide an outage.
    for ocn in ["6015", "much too long"] {
        let called = json!({ "name": "get_carrier", "arguments": { "ocn": ocn } });
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called });
        let request = http_client().post(format!("{}/mcp", server.base_url)).bearer_auth(KEY);
        let body: Value = request.json(&message).send().await.unwrap().json().await.unwrap();
        assert_eq!(body["result"]["isError"], true, "{body}");
    }
    let (_, metrics) = text(&format!("{operations}/metrics")).await;
    assert_eq!(value(&metrics, "tnr_ready"), 0.0);
    assert!(!metrics.contains("tnr_data_info{"), "{metrics}");
    for status in ["5xx", "2xx"] {
        let labels = format!(r#"{{method="POST",route="/mcp",status="{status}"}}"#);
        assert_eq!(value(&metrics, &format!("tnr_http_requests_total{labels}")), 1.0, "{status}");
    }
}

#[tokio::test]
async fn metrics_and_readiness_report_a_dead_database_once_it_is_needed() {
    let sample = Service::with_sample().await;
    let proxy =
        FaultProxy::with_switch(sample.database.endpoint(), None, Fault::NonRetryable).await;
    let server = Server::at(&proxy.endpoint, &OPTIONS).await;
    let operations = server.operations_url();
    let ready = async || text(&format!("{operations}/ready")).await;
    let metric = async |name: &str| value(&text(&format!("{operations}/metrics")).await.1, name);
    let look_up = async || server.response("/v1/carrier/908K", KEY).await.status();
    let metrics = format!("{operations}/metrics");
    // The data loads without a request.
    wait_until(async || text(&metrics).await.1.contains("tnr_data_info{")).await;
    assert_eq!(metric("tnr_database_up").await, 1.0);

    proxy.start_failing();
    let (status, reason) = ready().await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "no key is in memory");
    assert!(
        reason.starts_with("API keys cannot be checked: GetItem on table api_keys"),
        "{reason}"
    );
    assert_eq!([metric("tnr_ready").await, metric("tnr_database_up").await], [0.0, 0.0]);
    let refused = r#"tnr_dynamodb_failed_calls_total{kind="refused"}"#;
    assert!(metric(refused).await >= 1.0);

    proxy.stop_failing();
    wait_until(async || ready().await.0 == StatusCode::OK).await;
    assert_eq!(look_up().await, StatusCode::OK);
    proxy.start_failing();
    assert_eq!(look_up().await, StatusCode::OK);
    assert_eq!(metric("tnr_database_up").await, 0.0);
    assert_eq!(ready().await.0, StatusCode::OK, "data and a key are in memory");
}
