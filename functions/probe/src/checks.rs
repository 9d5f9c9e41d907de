//! The checks, in the order they run.

use serde_json::{Value, json};

use crate::{
    api::{Api, Response},
    expectation::{Expectation, Part},
    findings::Findings,
    request::Request,
    targets::Function,
};

pub struct Check {
    pub request: Request,
    pub expectation: Expectation,
}

/// An exchange that may not exist, in the form of a search result.
fn placeholder_exchange() -> Value {
    json!({ "npa": "212", "nxx": "555", "ocn": "9206" })
}

/// Returns the first search result with an OCN; some holders have none.
fn first_with_ocn(search: &Response) -> Option<Value> {
    search.body["results"].as_array()?.iter().find(|row| row["ocn"].is_string()).cloned()
}

fn equals(value: impl Into<Value>) -> Part {
    Part::Equals(value.into())
}

fn contains(text: impl Into<String>) -> Part {
    Part::Contains(text.into())
}

fn check(request: Request, parts: &[(&'static str, Part)]) -> Check {
    Check { request, expectation: Expectation::success(parts) }
}

fn site() -> [Check; 3] {
    let description = Request::new(Function::Site, "/openapi.json");
    let page = |route| Request::new(Function::Site, route).with_content_type("text/html");
    let is_complete = [("", contains("<title>")), ("", contains("</body>"))];
    [
        check(description, &[("/info/title", equals("Telephone Number Reference Service"))]),
        check(page("/"), &is_complete),
        check(page("/docs"), &is_complete),
    ]
}

pub fn health() -> Check {
    let request = Request::new(Function::Status, "/v1/health");
    check(request, &[("/database", equals("connected")), ("/status", Part::Health)])
}

pub fn statistics() -> Check {
    let request = Request::new(Function::Status, "/v1/stats");
    check(request, &[("/last_updated/NANPA", Part::Text), ("/by_status/ASSIGNED", Part::AboveZero)])
}

pub fn sources() -> Check {
    let request = Request::new(Function::Status, "/v1/sources");
    check(request, &[("/version", Part::Text), ("/reports/0/rows", Part::AboveZero)])
}

/// Searches for an exchange to check. A page of 100 is likely to include one whose holder has an OCN.
fn search() -> Check {
    let request = Request::new(Function::Search, "/v1/search");
    check(
        request.query("status", "ASSIGNED").query("limit", "100"),
        &[
            ("/pagination/total", Part::AboveZero),
            ("/results/0/status", equals("ASSIGNED")),
            ("/results", Part::RowWith("ocn")),
        ],
    )
}

fn changes() -> Check {
    let request = Request::new(Function::Search, "/v1/changes").query("limit", "1");
    check(request, &[("/since/version", Part::Text), ("/until/version", Part::Text)])
}

fn area_codes() -> Check {
    let request = Request::new(Function::Npa, "/v1/area-codes").query("limit", "1");
    check(request, &[("/area_codes/0/npa", Part::Text), ("/pagination/total", Part::AboveZero)])
}

pub fn carriers() -> Check {
    let request = Request::new(Function::Carriers, "/v1/carriers").query("limit", "1");
    check(request, &[("/carriers/0/ocn", Part::Text), ("/pagination/total", Part::AboveZero)])
}

/// The checks for an exchange and its first number, whose thousands block may have a different holder.
fn exchange_checks(exchange: &Value) -> [Check; 14] {
    let [npa, nxx, ocn] =
        ["npa", "nxx", "ocn"].map(|name| exchange[name].as_str().unwrap_or_default());
    let number = format!("+1{npa}{nxx}0000");
    let is_npa = || equals(npa);
    let is_nxx = || equals(nxx);
    let same = |name: &str| equals(exchange[name].clone());
    let exchange_request = Request::new(Function::Npa, "/v1/npa/{npa}/nxx/{nxx}");
    let area_code_request = Request::new(Function::Npa, "/v1/npa/{npa}").with("npa", npa);
    let carrier_request = Request::new(Function::Carriers, "/v1/carrier/{ocn}").with("ocn", ocn);
    let blocks_request = Request::new(Function::Npa, "/v1/npa/{npa}/nxx/{nxx}/blocks");
    let plan_request = Request::new(Function::Npa, "/v1/area-codes/{npa}").with("npa", npa);
    let holders_request = Request::new(Function::Carriers, "/v1/holders").query("npa", npa);
    let number_request = |route| Request::new(Function::Format, route).with("tn", &number);
    let batch = || Request::new(Function::Format, "/v1/format");
    let call = json!({ "name": "lookup_block", "arguments": { "tn": number } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    [
        check(
            exchange_request.with("npa", npa).with("nxx", nxx),
            &[
                ("/npa", is_npa()),
                ("/exchanges/0/nxx", is_nxx()),
                ("/exchanges/0/ocn", equals(ocn)),
                ("/exchanges/0/company_name", same("company_name")),
                ("/exchanges/0/rate_center", same("rate_center")),
                ("/exchanges/0/status", same("status")),
            ],
        ),
        check(
            area_code_request.query("limit", "1"),
            &[
                ("/npa", is_npa()),
                ("/exchanges/0/nxx", Part::Text),
                ("/pagination/total", Part::AboveZero),
            ],
        ),
        check(carrier_request, &[("/ocn", equals(ocn)), ("/exchanges/total", Part::AboveZero)]),
        check(
            blocks_request.with("npa", npa).with("nxx", nxx),
            &[("/npa", is_npa()), ("/nxx", is_nxx()), ("/blocks/9/block", equals(9))],
        ),
        check(
            Request::new(Function::Search, "/v1/npa/{npa}/nxx/{nxx}/history")
                .with("npa", npa)
                .with("nxx", nxx),
            &[("/until/version", Part::Text)],
        ),
        check(
            Request::new(Function::Search, "/v1/carrier/{ocn}/history").with("ocn", ocn),
            &[("/until/version", Part::Text)],
        ),
        check(plan_request, &[("/npa", is_npa()), ("/total_exchanges", Part::AboveZero)]),
        check(holders_request.query("limit", "1"), &[("/holders/0/exchanges", Part::AboveZero)]),
        check(
            number_request("/v1/lookup/{tn+}"),
            &[
                ("/npa", is_npa()),
                ("/nxx", is_nxx()),
                ("/status", same("status")),
                ("/carrier/ocn", Part::Text),
            ],
        ),
        check(number_request("/v1/format/{tn+}"), &[("/npa", is_npa()), ("/nxx", is_nxx())]),
        check(
            batch().body(json!([number])),
            &[
                ("/results/0/tn", equals(&*number)),
                ("/results/0/result/npa", is_npa()),
                ("/results/0/result/nxx", is_nxx()),
            ],
        ),
        check(
            batch().body(format!("tn\n{number}\n")).with_content_type("text/csv"),
            &[("", contains(format!("\n{number},"))), ("", contains(format!(",{npa},{nxx},")))],
        ),
        check(
            Request::new(Function::Format, "/v1/find").body(json!({ "text": number })),
            &[("/results/0/tn", equals(&*number)), ("/results/0/result/npa", is_npa())],
        ),
        check(
            Request::new(Function::Mcp, "/mcp").body(call),
            &[
                ("/result/isError", equals(false)),
                ("/result/structuredContent/npa", is_npa()),
                ("/result/structuredContent/nxx", is_nxx()),
                ("/result/structuredContent/status", same("status")),
            ],
        ),
    ]
}

/// The checks that need a key, for an exchange that may not exist.
pub fn keyed_checks() -> impl Iterator<Item = Check> {
    [search(), changes(), carriers(), area_codes()]
        .into_iter()
        .chain(exchange_checks(&placeholder_exchange()))
}

/// Runs all checks, one at a time so that each function needs only one container.
pub async fn check_all(api: &impl Api) -> Findings {
    let mut findings = Findings::default();
    for check in site() {
        run(&mut findings, api, check).await;
    }
    if let Some(response) = run(&mut findings, api, health()).await {
        findings.set_data_state(&response);
    }
    let statistics = run(&mut findings, api, statistics()).await;
    findings.stats_total =
        statistics.and_then(|response| response.body["by_status"]["ASSIGNED"].as_u64());
    if let Some(response) = run(&mut findings, api, sources()).await {
        findings.set_report_dates(&response);
    }
    let search = run(&mut findings, api, search()).await;
    findings.search_total =
        search.as_ref().and_then(|response| response.body["pagination"]["total"].as_u64());
    // If the function does not respond, another check would only take longer.
    if search.is_some() {
        run(&mut findings, api, changes()).await;
    }
    run(&mut findings, api, carriers()).await;
    run(&mut findings, api, area_codes()).await;
    // Before the first import, any exchange will do.
    let exchange = match &search {
        Some(search) if !findings.is_empty => first_with_ocn(search),
        _ => findings.is_empty.then(placeholder_exchange),
    };
    for check in exchange.iter().flat_map(exchange_checks) {
        run(&mut findings, api, check).await;
    }
    findings
}

/// Runs a check. Returns the last response if it is as expected.
async fn run(findings: &mut Findings, api: &impl Api, check: Check) -> Option<Response> {
    let Check { request, mut expectation } = check;
    let needs_data = request.needs_key()
        || [statistics(), sources()].iter().any(|check| check.request.route == request.route);
    if findings.is_empty && needs_data {
        expectation = expected_without_data(request.function);
    }
    let mut response = None;
    for (name, request) in api.variants(request) {
        response = findings.record(name, &expectation, api.send(&request)).await;
    }
    response
}

fn expected_without_data(function: Function) -> Expectation {
    let error = "service_unavailable";
    match function {
        Function::Mcp => Expectation::success([
            ("/result/isError", equals(true)),
            ("/result/structuredContent/error", equals(error)),
        ]),
        _ => Expectation::error(503, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::RequestError;

    struct EmptyService;

    impl Api for EmptyService {
        fn variants(&self, request: Request) -> Vec<(String, Request)> {
            vec![(request.name(), request)]
        }

        async fn send(&self, request: &Request) -> Result<Response, RequestError> {
            let error = json!({ "error": "service_unavailable" });
            let (status, body) = match (request.function, request.route) {
                (Function::Site, "/openapi.json") => {
                    (200, json!({ "info": { "title": "Telephone Number Reference Service" } }))
                }
                (Function::Site, _) => (200, json!("<title></title></body>")),
                (_, "/v1/health") => (
                    200,
                    json!({ "status": "degraded", "database": "connected", "last_ingestion": null }),
                ),
                (Function::Mcp, _) => {
                    (200, json!({ "result": { "isError": true, "structuredContent": error } }))
                }
                _ => (503, error),
            };
            Ok(Response { status, body })
        }
    }

    #[tokio::test]
    async fn service_without_data_passes_all_checks() {
        let findings = check_all(&EmptyService).await;
        assert!(findings.is_empty && findings.all_passed(), "{findings:?}");
        assert_eq!(findings.outcomes.len(), 24);
    }

    /// Responds to every request with these reports.
    struct ReportsOnly(Value);

    impl Api for ReportsOnly {
        fn variants(&self, request: Request) -> Vec<(String, Request)> {
            vec![(request.name(), request)]
        }

        async fn send(&self, _: &Request) -> Result<Response, RequestError> {
            Ok(Response { status: 200, body: json!({ "version": "v", "reports": self.0 }) })
        }
    }

    #[tokio::test]
    async fn report_ages_are_in_days_and_only_for_reports_with_a_date() {
        let dated = json!([
            { "report": "nanpa", "rows": 1, "date": "2026-11-26" },
            { "report": "cnac", "rows": 1, "date": "2025-09-12" },
            { "report": "npa_report", "rows": 1, "date": "2026-11-25" },
            { "report": "thousands_blocks", "rows": 1, "date": "2026-11-01" },
        ]);
        let undated = json!([{ "report": "nanpa", "rows": 1, "date": null }]);
        let expected =
            [("NanpaReportAge", 0.0), ("CnacReportAge", 440.0), ("AreaCodeReportAge", 1.0)];
        for (reports, expected) in [(dated, &expected[..]), (undated, &[])] {
            let now = "2026-11-26T23:59:59Z".parse().unwrap();
            let line = check_all(&ReportsOnly(reports)).await.line_with_metrics("probe", now);
            let line: Value = serde_json::from_str(&line).unwrap();
            let metrics = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().unwrap();
            let names = metrics.iter().map(|metric| metric["Name"].as_str().unwrap());
            let ages: Vec<_> = names
                .filter(|name| name.ends_with("ReportAge"))
                .map(|name| (name, line[name].as_f64().unwrap()))
                .collect();
            assert_eq!(ages, expected);
        }
    }

    #[test]
    fn unexpected_responses_are_errors_that_state_the_difference() {
        let health = |status: &str, database: &str, last_ingestion: Value| {
            let body =
                json!({ "status": status, "database": database, "last_ingestion": last_ingestion });
            (health().expectation, 200, body)
        };
        let with = |part: Part, body: Value| (Expectation::success(&[("", part)]), 200, body);
        let row = |ocn: Value| with(Part::RowWith("ocn"), json!([{ "ocn": ocn }]));
        let error = |status, body: Value| (Expectation::error(401, "unauthorized"), status, body);
        let (never, time) = (|| Value::Null, || json!("1970-01-01T00:00:00Z"));
        for ((expectation, status, body), reason) in [
            (health("degraded", "connected", never()), ""),
            (health("healthy", "connected", time()), ""),
            (health("degraded", "connected", time()), "/status must be healthy, got \"degraded\""),
            (health("degraded", "x", never()), "/database must be \"connected\", got \"x\""),
            (with(contains("\n201,"), json!("tn\n201,")), ""),
            (with(contains("\n201,"), json!("tn\n")), "the body does not contain \"\\n201,\""),
            (with(contains("x"), json!({})), "the body does not contain \"x\""),
            (with(Part::AboveZero, json!(0)), " must be a number above 0, got 0"),
            (row(json!("9206")), ""),
            (row(Value::Null), "the body does not contain a row with ocn"),
            (error(401, json!({ "error": "unauthorized" })), ""),
            (error(401, json!({})), "/error must be \"unauthorized\", got null"),
            (error(503, json!({ "error": "x" })), "the status must be 401, got 503 (x)"),
        ] {
            let case = body.to_string();
            let error = expectation.compare(&Response { status, body }).err();
            assert_eq!(error.map(|error| error.to_string()).unwrap_or_default(), reason, "{case}");
        }
    }
}
