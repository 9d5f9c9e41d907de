//! The list of checks, and the order they run in.

use serde_json::{Value, json};

use crate::{
    api::{Answer, Api},
    expectation::{Expectation, Part},
    findings::Findings,
    request::Request,
    targets::Function,
};

/// A request, and the expected answer.
pub struct Check {
    pub request: Request,
    pub expectation: Expectation,
}

/// An exchange that may or may not exist, as a row of a search.
fn any_exchange() -> Value {
    json!({ "npa": "212", "nxx": "555", "ocn": "9206" })
}

/// The first exchange found with an OCN; some holders have none.
fn exchange_found_by(search: &Answer) -> Option<Value> {
    search.body["results"].as_array()?.iter().find(|row| row["ocn"].is_string()).cloned()
}

fn is(value: impl Into<Value>) -> Part {
    Part::Is(value.into())
}

fn has(text: impl Into<String>) -> Part {
    Part::Has(text.into())
}

fn check(request: Request, parts: &[(&'static str, Part)]) -> Check {
    Check { request, expectation: Expectation::success(parts) }
}

fn site() -> [Check; 3] {
    let description = Request::to(Function::Site, "/openapi.json");
    let page = |route| Request::to(Function::Site, route).with_content_type("text/html");
    let is_whole = [("", has("<title>")), ("", has("</body>"))];
    [
        check(description, &[("/info/title", is("Telephone Number Reference Service"))]),
        check(page("/"), &is_whole),
        check(page("/docs"), &is_whole),
    ]
}

pub fn health() -> Check {
    let request = Request::to(Function::Status, "/v1/health");
    check(request, &[("/database", is("connected")), ("/status", Part::Health)])
}

pub fn statistics() -> Check {
    let request = Request::to(Function::Status, "/v1/stats");
    check(request, &[("/last_updated/NANPA", Part::Text), ("/by_status/ASSIGNED", Part::AboveZero)])
}

/// Searches for an exchange to check. The page is large enough to include one whose holder has an OCN.
fn search() -> Check {
    let request = Request::to(Function::Search, "/v1/search");
    check(
        request.query("status", "ASSIGNED").query("limit", "100"),
        &[
            ("/pagination/total", Part::AboveZero),
            ("/results/0/status", is("ASSIGNED")),
            ("/results", Part::RowWith("ocn")),
        ],
    )
}

pub fn carriers() -> Check {
    let request = Request::to(Function::Carriers, "/v1/carriers").query("limit", "1");
    check(request, &[("/carriers/0/ocn", Part::Text), ("/pagination/total", Part::AboveZero)])
}

/// The checks about an exchange and its first number. The number's thousands block may have a different holder.
fn checks_about(exchange: &Value) -> [Check; 8] {
    let [npa, nxx, ocn] =
        ["npa", "nxx", "ocn"].map(|name| exchange[name].as_str().unwrap_or_default());
    let number = format!("+1{npa}{nxx}0000");
    let is_npa = || is(npa);
    let is_nxx = || is(nxx);
    let as_found = |name: &str| is(exchange[name].clone());
    let by_exchange = Request::to(Function::Npa, "/v1/npa/{npa}/nxx/{nxx}");
    let by_area_code = Request::to(Function::Npa, "/v1/npa/{npa}").with("npa", npa);
    let by_ocn = Request::to(Function::Carriers, "/v1/carrier/{ocn}").with("ocn", ocn);
    let by_number = |route| Request::to(Function::Format, route).with("tn", &number);
    let batch = || Request::to(Function::Format, "/v1/format");
    let call = json!({ "name": "lookup_block", "arguments": { "tn": number } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    [
        check(
            by_exchange.with("npa", npa).with("nxx", nxx),
            &[
                ("/npa", is_npa()),
                ("/exchanges/0/nxx", is_nxx()),
                ("/exchanges/0/ocn", is(ocn)),
                ("/exchanges/0/company_name", as_found("company_name")),
                ("/exchanges/0/rate_center", as_found("rate_center")),
                ("/exchanges/0/status", as_found("status")),
            ],
        ),
        check(
            by_area_code.query("limit", "1"),
            &[
                ("/npa", is_npa()),
                ("/exchanges/0/nxx", Part::Text),
                ("/pagination/total", Part::AboveZero),
            ],
        ),
        check(by_ocn, &[("/ocn", is(ocn)), ("/exchanges/total", Part::AboveZero)]),
        check(
            by_number("/v1/lookup/{tn+}"),
            &[
                ("/npa", is_npa()),
                ("/nxx", is_nxx()),
                ("/status", as_found("status")),
                ("/carrier/ocn", Part::Text),
            ],
        ),
        check(by_number("/v1/format/{tn+}"), &[("/npa", is_npa()), ("/nxx", is_nxx())]),
        check(
            batch().body(json!([number])),
            &[
                ("/results/0/tn", is(&*number)),
                ("/results/0/result/npa", is_npa()),
                ("/results/0/result/nxx", is_nxx()),
            ],
        ),
        check(
            batch().body(format!("tn\n{number}\n")).with_content_type("text/csv"),
            &[("", has(format!("\n{number},"))), ("", has(format!(",{npa},{nxx},")))],
        ),
        check(
            Request::to(Function::Mcp, "/mcp").body(call),
            &[
                ("/result/isError", is(false)),
                ("/result/structuredContent/npa", is_npa()),
                ("/result/structuredContent/nxx", is_nxx()),
                ("/result/structuredContent/status", as_found("status")),
            ],
        ),
    ]
}

/// The checks that need a key, about an exchange that may or may not exist.
pub fn keyed_checks() -> impl Iterator<Item = Check> {
    [search(), carriers()].into_iter().chain(checks_about(&any_exchange()))
}

/// Runs the checks one by one, so a single container of each function is enough.
pub async fn check_all(api: &impl Api) -> Findings {
    let mut findings = Findings::default();
    for check in site() {
        make(&mut findings, api, check).await;
    }
    if let Some(answer) = make(&mut findings, api, health()).await {
        findings.set_health(&answer);
    }
    let statistics = make(&mut findings, api, statistics()).await;
    findings.assigned = statistics.and_then(|answer| answer.body["by_status"]["ASSIGNED"].as_u64());
    let search = make(&mut findings, api, search()).await;
    findings.found = search.as_ref().and_then(|it| it.body["pagination"]["total"].as_u64());
    make(&mut findings, api, carriers()).await;
    // Before the first import any exchange will do.
    let exchange = match &search {
        Some(search) if !findings.is_empty => exchange_found_by(search),
        _ => findings.is_empty.then(any_exchange),
    };
    for check in exchange.iter().flat_map(checks_about) {
        make(&mut findings, api, check).await;
    }
    findings
}

/// Runs a check, and returns the last answer if it is as expected.
async fn make(findings: &mut Findings, api: &impl Api, check: Check) -> Option<Answer> {
    let Check { request, mut expectation } = check;
    let needs_data = request.needs_key() || request.route == statistics().request.route;
    if findings.is_empty && needs_data {
        expectation = without_data(request.function);
    }
    let mut answer = None;
    for (name, request) in api.variants(request) {
        answer = findings.record(name, &expectation, api.answer_to(&request)).await;
    }
    answer
}

/// The expected answer before the first import, for a request that needs data.
fn without_data(function: Function) -> Expectation {
    let error = "service_unavailable";
    match function {
        Function::Mcp => Expectation::success([
            ("/result/isError", is(true)),
            ("/result/structuredContent/error", is(error)),
        ]),
        _ => Expectation::refusal(503, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_tell_right_answers_from_wrong_ones() {
        let health_of = |status: &str, database: &str, imported: Value| {
            let body =
                json!({ "status": status, "database": database, "last_ingestion": imported });
            (health().expectation, 200, body)
        };
        let imported = || json!("1970-01-01T00:00:00Z");
        let with = |part: Part, body: Value| (Expectation::success(&[("", part)]), 200, body);
        let refusal =
            |status, body: Value| (Expectation::refusal(401, "unauthorized"), status, body);
        for ((expectation, status, body), reason) in [
            (health_of("degraded", "connected", Value::Null), ""),
            (health_of("healthy", "connected", imported()), ""),
            (
                health_of("degraded", "connected", imported()),
                "/status is \"degraded\", and must be healthy",
            ),
            (
                health_of("degraded", "error", Value::Null),
                "/database is \"error\", and must be \"connected\"",
            ),
            (with(has("\n201,"), json!("tn\n201,")), ""),
            (with(has("\n201,"), json!("tn\n")), "the body must have \"\\n201,\""),
            (with(has("x"), json!({})), "the body must have \"x\""),
            (with(Part::AboveZero, json!(0)), " is 0, and must be a number above 0"),
            (with(Part::RowWith("ocn"), json!([{ "ocn": "9206" }])), ""),
            (
                with(Part::RowWith("ocn"), json!([{ "ocn": null }])),
                "the body must have \"a row with ocn\"",
            ),
            (refusal(401, json!({ "error": "unauthorized" })), ""),
            (refusal(401, json!({})), "/error is null, and must be \"unauthorized\""),
            (refusal(503, json!({ "error": "x" })), "the status is 503 (x), and must be 401"),
        ] {
            let case = body.to_string();
            let error = expectation.compare(&Answer { status, body }).err();
            assert_eq!(error.map(|error| error.to_string()).unwrap_or_default(), reason, "{case}");
        }
    }
}
