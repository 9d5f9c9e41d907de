//! The checks: requests to a healthy service, and the expected responses. Each function and table is involved. Tests check
//! the other endpoints.

use serde_json::{Value, json};

use crate::{
    findings::Findings,
    request::{Function, Request},
    response::{Api, Expectation, Part, Response},
};

pub type Check = (Request, Expectation);

fn equals(value: impl Into<Value>) -> Part {
    Part::Equals(value.into())
}

fn check(request: Request, parts: &[(&'static str, Part)]) -> Check {
    (request, Expectation::success(parts))
}

fn page() -> Check {
    let request = Request::new(Function::Site, "/").with_content_type("text/html");
    check(request, &[("", Part::Contains("<title>")), ("", Part::Contains("</body>"))])
}

pub fn health() -> Check {
    let request = Request::new(Function::Status, "/v1/health");
    check(request, &[("/database", equals("connected")), ("/status", Part::Health)])
}

pub fn statistics() -> Check {
    let request = Request::new(Function::Status, "/v1/stats");
    check(request, &[("/last_updated/NANPA", Part::Text), ("/by_status/ASSIGNED", Part::AboveZero)])
}

fn sources() -> Check {
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

/// The checks for an exchange in a search result, and for its first number, whose thousands block may have a different
/// holder.
fn exchange_checks(exchange: &Value) -> [Check; 5] {
    let [npa, nxx, ocn] =
        ["npa", "nxx", "ocn"].map(|name| exchange[name].as_str().unwrap_or_default());
    let number = format!("+1{npa}{nxx}0000");
    let is_npa = || equals(npa);
    let is_nxx = || equals(nxx);
    let same = |name: &str| equals(exchange[name].clone());
    let exchange_request = Request::new(Function::Npa, "/v1/npa/{npa}/nxx/{nxx}");
    let carrier = Request::new(Function::Carriers, "/v1/carrier/{ocn}").with("ocn", ocn);
    let of_number = |route| Request::new(Function::Format, route).with("tn", &number);
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
        check(carrier, &[("/ocn", equals(ocn)), ("/exchanges/total", Part::AboveZero)]),
        check(
            of_number("/v1/lookup/{tn+}"),
            &[
                ("/npa", is_npa()),
                ("/nxx", is_nxx()),
                ("/status", same("status")),
                ("/carrier/ocn", Part::Text),
            ],
        ),
        check(of_number("/v1/format/{tn+}"), &[("/npa", is_npa()), ("/nxx", is_nxx())]),
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

/// An exchange that may not exist, in the form of a search result.
fn placeholder_exchange() -> Value {
    json!({ "npa": "212", "nxx": "555", "ocn": "9206" })
}

/// Runs the checks that need no key, one at a time so that each function needs only one container.
pub async fn check_public(api: &impl Api) -> Findings {
    let mut findings = Findings::default();
    run(&mut findings, api, page()).await;
    if let Some(response) = run(&mut findings, api, health()).await {
        findings.set_data_state(&response);
    }
    run(&mut findings, api, statistics()).await;
    if let Some(response) = run(&mut findings, api, sources()).await {
        findings.set_report_dates(&response);
    }
    findings
}

pub async fn check_keyed(api: &impl Api, findings: &mut Findings) {
    let search = run(findings, api, search()).await;
    // If the function does not respond, another check would only take longer.
    if search.is_some() {
        run(findings, api, changes()).await;
    }
    // Before the first import, any exchange will do.
    let exchange = match search {
        _ if findings.is_empty => Some(placeholder_exchange()),
        Some(search) => first_with_ocn(&search),
        None => None,
    };
    for check in exchange.iter().flat_map(exchange_checks) {
        run(findings, api, check).await;
    }
}

/// Returns the first search result with an OCN; some holders have none.
fn first_with_ocn(search: &Response) -> Option<Value> {
    search.body["results"].as_array()?.iter().find(|row| row["ocn"].is_string()).cloned()
}

async fn run(
    findings: &mut Findings,
    api: &impl Api,
    (request, mut expectation): Check,
) -> Option<Response> {
    let needs_data = request.function != Function::Site && request.route != "/v1/health";
    if findings.is_empty && needs_data {
        expectation = expected_without_data(request.function);
    }
    findings.record(request.name(), &expectation, api.send(&request)).await
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
