//! The checks: requests to the service, and the responses expected from a healthy one. They cover each function and
//! table. Tests cover the other endpoints.

use serde_json::{Value, json};

use crate::{
    findings::Findings,
    request::{Function, Request},
    response::{ABOVE_ZERO, Api, CONTAINS, CheckError, Expectation, Response, TEXT},
};

pub type Check = (Request, Expectation);

fn check(request: Request, body: Value) -> Check {
    (request, Expectation::success([body]))
}

fn page() -> Check {
    let request = Request::new(Function::Site, "/").with_content_type("text/html");
    check(request, json!(CONTAINS.to_owned() + "</body>"))
}

/// Health is degraded before the first import.
pub fn health() -> Check {
    let healthy = json!({ "database": "connected", "status": "healthy", "last_ingestion": TEXT });
    let empty = json!({ "database": "connected", "status": "degraded", "last_ingestion": null });
    let request = Request::new(Function::Status, "/v1/health");
    (request, Expectation::success([healthy, empty]))
}

pub fn statistics() -> Check {
    let request = Request::new(Function::Status, "/v1/stats");
    let counts = json!({ "ASSIGNED": ABOVE_ZERO });
    check(request, json!({ "last_updated": { "NANPA": TEXT }, "by_status": counts }))
}

fn sources() -> Check {
    let request = Request::new(Function::Status, "/v1/sources");
    check(request, json!({ "version": TEXT, "reports": [{ "rows": ABOVE_ZERO }] }))
}

/// Searches for an exchange to check. A page of 100 probably includes one whose holder has an OCN.
fn search() -> Check {
    let request = Request::new(Function::Search, "/v1/search");
    let body =
        json!({ "pagination": { "total": ABOVE_ZERO }, "results": [{ "status": "ASSIGNED" }] });
    check(request.with_query("status", "ASSIGNED").with_query("limit", "100"), body)
}

fn changes() -> Check {
    let request = Request::new(Function::Search, "/v1/changes").with_query("limit", "1");
    check(request, json!({ "since": { "version": TEXT }, "until": { "version": TEXT } }))
}

/// The checks for an exchange in a search result and its first number, whose thousands block may have a different
/// holder.
fn exchange_checks(exchange: &Value) -> [Check; 5] {
    let [npa, nxx, ocn] =
        ["npa", "nxx", "ocn"].map(|name| exchange[name].as_str().unwrap_or_default());
    let (number, status) = (format!("+1{npa}{nxx}0000"), &exchange["status"]);
    let (company_name, rate_center) = (&exchange["company_name"], &exchange["rate_center"]);
    let exchange_request = Request::new(Function::Npa, "/v1/npa/{npa}/nxx/{nxx}");
    let exchange = json!({
        "nxx": nxx, "ocn": ocn, "company_name": company_name, "rate_center": rate_center,
        "status": status,
    });
    let carrier =
        Request::new(Function::Carriers, "/v1/carrier/{ocn}").with_path_parameter("ocn", ocn);
    let of_number =
        |route| Request::new(Function::Format, route).with_path_parameter("tn", &number);
    let call = json!({ "name": "lookup_block", "arguments": { "tn": number } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    let block = format!("{CONTAINS}\"npa\":\"{npa}\",\"nxx\":\"{nxx}\"");
    [
        check(
            exchange_request.with_path_parameter("npa", npa).with_path_parameter("nxx", nxx),
            json!({ "npa": npa, "exchanges": [exchange] }),
        ),
        check(carrier, json!({ "ocn": ocn, "exchanges": { "total": ABOVE_ZERO } })),
        check(
            of_number("/v1/lookup/{tn+}"),
            json!({ "npa": npa, "nxx": nxx, "status": status, "carrier": { "ocn": TEXT } }),
        ),
        check(of_number("/v1/format/{tn+}"), json!({ "npa": npa, "nxx": nxx })),
        check(
            Request::new(Function::Mcp, "/mcp").with_body(call),
            json!({ "result": { "isError": false, "content": [{ "text": block }] } }),
        ),
    ]
}

/// An exchange that may not exist, in search result form.
fn placeholder_exchange() -> Value {
    json!({ "npa": "212", "nxx": "555", "ocn": "9206" })
}

/// Runs the checks that do not need a key. Runs them one at a time, so that each function needs only one container.
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
    // If the function does not respond, another check would only waste time.
    if search.is_some() {
        run(findings, api, changes()).await;
    }
    // Before the first import, any exchange works.
    let exchange = match &search {
        _ if findings.is_empty => Some(placeholder_exchange()),
        Some(search) => first_with_ocn(search),
        None => None,
    };
    if search.is_some() && exchange.is_none() {
        let (field, expected) = ("/results".to_owned(), json!([{ "ocn": TEXT }]).to_string());
        let error = CheckError::Field { field, expected, actual: "null".to_owned() };
        findings.record_comparison("search: a holder with an OCN", Some(error));
    }
    for check in exchange.iter().flat_map(exchange_checks) {
        run(findings, api, check).await;
    }
}

/// Returns the first search result with an OCN. Some holders do not have one.
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
        Function::Mcp => {
            let content = json!({ "error": error });
            Expectation::success([
                json!({ "result": { "isError": true, "structuredContent": content } }),
            ])
        }
        _ => Expectation::error(503, json!({ "error": error })),
    }
}
