//! What the functions are asked, and in which order.

use serde_json::json;

use crate::{
    expectations::{self as expected, Found, Health, Wrong},
    findings::Findings,
    functions::{Answer, Functions},
    request::Request,
    targets::{Function, Serving},
};

/// The search that gives an exchange to ask for: enough rows to have one whose holder has an OCN.
fn search() -> Request {
    Request::to(Function::Search, "/v1/search").query("status", "ASSIGNED").query("limit", "100")
}

fn health() -> Request {
    Request::to(Function::Status, "/v1/health")
}

fn statistics() -> Request {
    Request::to(Function::Status, "/v1/stats")
}

fn description() -> Request {
    Request::to(Function::Site, "/openapi.json")
}

fn page() -> Request {
    Request::to(Function::Site, "/").of_type("text/html")
}

fn documentation() -> Request {
    Request::to(Function::Site, "/docs").of_type("text/html")
}

fn carriers() -> Request {
    Request::to(Function::Carriers, "/v1/carriers").query("limit", "1")
}

fn carrier(ocn: &str) -> Request {
    Request::to(Function::Carriers, "/v1/carrier/{ocn}").with("ocn", ocn)
}

fn area_code(npa: &str) -> Request {
    Request::to(Function::Npa, "/v1/npa/{npa}").with("npa", npa).query("limit", "1")
}

fn exchange(npa: &str, nxx: &str) -> Request {
    Request::to(Function::Npa, "/v1/npa/{npa}/nxx/{nxx}").with("npa", npa).with("nxx", nxx)
}

fn lookup(number: &str) -> Request {
    Request::to(Function::Format, "/v1/lookup/{tn+}").with("tn", number)
}

fn format(number: &str) -> Request {
    Request::to(Function::Format, "/v1/format/{tn+}").with("tn", number)
}

fn numbers(number: &str) -> Request {
    Request::to(Function::Format, "/v1/format").body(json!([number]))
}

fn numbers_as_csv(number: &str) -> Request {
    Request::to(Function::Format, "/v1/format").body(format!("tn\n{number}\n")).of_type("text/csv")
}

fn tool(number: &str) -> Request {
    let call = json!({ "name": "lookup_block", "arguments": { "tn": number } });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    Request::to(Function::Mcp, "/mcp").body(message)
}

/// Every request that is made, about one exchange.
pub fn requests_about(npa: &str, nxx: &str, ocn: &str) -> Vec<Request> {
    let number = number_of(npa, nxx);
    vec![
        health(),
        statistics(),
        description(),
        page(),
        documentation(),
        search(),
        carriers(),
        carrier(ocn),
        area_code(npa),
        exchange(npa, nxx),
        lookup(&number),
        format(&number),
        numbers(&number),
        numbers_as_csv(&number),
        tool(&number),
    ]
}

/// The first number of an exchange.
fn number_of(npa: &str, nxx: &str) -> String {
    format!("+1{npa}{nxx}0000")
}

/// Asks every function, each for one thing at a time, so that a single container of it is needed.
pub async fn check_functions(functions: &Functions, serving: Serving) -> Findings {
    let mut findings = Findings::default();
    check(&mut findings, functions, description(), expected::description).await;
    check(&mut findings, functions, page(), expected::page).await;
    check(&mut findings, functions, documentation(), expected::page).await;
    match check(&mut findings, functions, health(), expected::health).await {
        Some(Health::Empty) => {
            findings.is_empty = true;
            check_without_data(&mut findings, functions).await;
        }
        Some(Health::Imported(at)) => {
            findings.imported_at = Some(at);
            check_with_data(&mut findings, functions, serving).await;
        }
        // Whatever else does not work is told, too.
        None => check_with_data(&mut findings, functions, serving).await,
    }
    findings
}

/// Compares new versions that have found no data with the versions that serve. Nothing is known of one
/// that does not answer, which may be what the new one mends.
pub async fn check_that_nobody_has_data(findings: &mut Findings, live: &Functions) {
    let answer = live.answer_to(&health()).await.map_err(Wrong::from).and_then(expected::health);
    if let Ok(serving) = answer {
        findings.note("status: the data of the version that serves", expected::emptiness(serving));
    }
}

/// Makes one check, and gives what it has found unless it failed.
async fn check<T>(
    findings: &mut Findings,
    functions: &Functions,
    request: Request,
    expected: impl FnOnce(Answer) -> Result<T, Wrong>,
) -> Option<T> {
    let outcome = functions.answer_to(&request).await.map_err(Wrong::from).and_then(expected);
    findings.note(request.name(), outcome)
}

/// Before the first import every endpoint that needs data must say that it has none. The codes are
/// those of an exchange that may exist or not.
async fn check_without_data(findings: &mut Findings, functions: &Functions) {
    for request in requests_about("212", "555", "9206") {
        match request.function {
            Function::Site => {}
            Function::Mcp => {
                check(findings, functions, request, expected::tool_without_data).await;
            }
            _ if request.route == health().route => {}
            _ => {
                check(findings, functions, request, expected::without_data).await;
            }
        }
    }
}

async fn check_with_data(findings: &mut Findings, functions: &Functions, serving: Serving) {
    let assigned = check(findings, functions, statistics(), expected::statistics).await;
    let Some((found, total)) = check(findings, functions, search(), expected::search).await else {
        // Without an exchange to ask for, lists are what is left.
        check(findings, functions, carriers(), expected::carriers).await;
        return;
    };
    if let (Serving::Next, Some(assigned)) = (serving, assigned) {
        findings.note("search: the current data", expected::current(assigned, total));
    }
    let number = number_of(&found.npa, &found.nxx);
    check_npa(findings, functions, &found).await;
    check_carriers(findings, functions, &found).await;
    check_format(findings, functions, &found, &number).await;
    let is_block = |answer| expected::tool(answer, &found);
    check(findings, functions, tool(&number), is_block).await;
}

async fn check_npa(findings: &mut Findings, functions: &Functions, found: &Found) {
    let Found { npa, nxx, .. } = found;
    let is_exchange = |answer| expected::exchange(answer, found);
    check(findings, functions, exchange(npa, nxx), is_exchange).await;
    let is_area_code = |answer| expected::area_code(answer, found);
    check(findings, functions, area_code(npa), is_area_code).await;
}

async fn check_carriers(findings: &mut Findings, functions: &Functions, found: &Found) {
    let is_carrier = |answer| expected::carrier(answer, found);
    check(findings, functions, carrier(&found.ocn), is_carrier).await;
    check(findings, functions, carriers(), expected::carriers).await;
}

async fn check_format(findings: &mut Findings, functions: &Functions, found: &Found, number: &str) {
    let is_lookup = |answer| expected::lookup(answer, found);
    let looked_up = check(findings, functions, lookup(number), is_lookup).await;
    let is_format = |answer| expected::format(answer, found, looked_up.as_ref());
    check(findings, functions, format(number), is_format).await;
    let are_numbers = |answer| expected::numbers(answer, found, number);
    check(findings, functions, numbers(number), are_numbers).await;
    let is_table = |answer| expected::table(answer, found, number);
    check(findings, functions, numbers_as_csv(number), is_table).await;
}
