//! Which answers are right, whatever data is deployed: the parts that all answers about one exchange must
//! have in common.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::functions::{Answer, NoAnswer};

/// Why an answer is not right.
#[derive(Debug, thiserror::Error)]
pub enum Wrong {
    #[error(transparent)]
    NoAnswer(#[from] NoAnswer),
    #[error("the status is {actual} ({error}), and must be {expected}")]
    Status { expected: u16, actual: u16, error: String },
    #[error("{field} is {actual}, and must be {expected}")]
    Field { field: &'static str, expected: String, actual: Value },
    #[error("the body must be {0}")]
    Content(String),
}

/// What `/v1/health` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// Nothing has been imported yet.
    Empty,
    /// The data was imported, or found to be unchanged, at this time.
    Imported(Timestamp),
}

/// An assigned exchange as a search tells of it.
#[derive(Debug, Clone)]
pub struct Found {
    pub npa: String,
    pub nxx: String,
    pub ocn: String,
    row: Value,
}

/// The answer if it has this status.
pub fn with_status(answer: Answer, expected: u16) -> Result<Value, Wrong> {
    if answer.status == expected {
        return Ok(answer.body);
    }
    let error = answer.body["error"].as_str().unwrap_or("no error").to_owned();
    Err(Wrong::Status { expected, actual: answer.status, error })
}

/// The answer of an endpoint that needs data, before the first import.
pub fn without_data(answer: Answer) -> Result<(), Wrong> {
    let body = with_status(answer, 503)?;
    field(&body, "/error", &json!("service_unavailable"))
}

pub fn health(answer: Answer) -> Result<Health, Wrong> {
    let body = with_status(answer, 200)?;
    field(&body, "/database", &json!("connected"))?;
    if body["last_ingestion"].is_null() {
        field(&body, "/status", &json!("degraded"))?;
        return Ok(Health::Empty);
    }
    field(&body, "/status", &json!("healthy"))?;
    let imported_at = text(&body, "/last_ingestion")?;
    imported_at
        .parse()
        .map(Health::Imported)
        .map_err(|_| unlike(&body, "/last_ingestion", "a time"))
}

/// Notices a new version that finds no data where the one that serves has some: it looks in another
/// table, or for another manifest.
pub fn emptiness(serving: Health) -> Result<(), Wrong> {
    match serving {
        Health::Empty => Ok(()),
        Health::Imported(at) => Err(Wrong::Field {
            field: "/last_ingestion",
            expected: format!("{at}, as of the version that serves"),
            actual: Value::Null,
        }),
    }
}

/// The description of the API, which needs no data.
pub fn description(answer: Answer) -> Result<(), Wrong> {
    let body = with_status(answer, 200)?;
    field(&body, "/info/title", &json!("Telephone Number Reference Service"))
}

/// A document for browsers, which needs no data.
pub fn page(answer: Answer) -> Result<(), Wrong> {
    let body = with_status(answer, 200)?;
    let is_whole = |document: &str| document.contains("<title>") && document.contains("</body>");
    if body.as_str().is_some_and(is_whole) {
        Ok(())
    } else {
        Err(Wrong::Content("a document".to_owned()))
    }
}

/// The number of assigned exchanges.
pub fn statistics(answer: Answer) -> Result<u64, Wrong> {
    let body = with_status(answer, 200)?;
    text(&body, "/last_updated/NANPA")?;
    number(&body, "/by_status/ASSIGNED")
}

/// The first assigned exchange with an OCN, and how many exchanges were found. Some holders have none.
pub fn search(answer: Answer) -> Result<(Found, u64), Wrong> {
    let body = with_status(answer, 200)?;
    let rows = body["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    let row = rows.iter().find(|row| row["ocn"].is_string());
    let row = row.ok_or_else(|| unlike(&body, "/results/0/ocn", "an OCN"))?;
    field(row, "/status", &json!("ASSIGNED"))?;
    let found = Found {
        npa: text(row, "/npa")?,
        nxx: text(row, "/nxx")?,
        ocn: text(row, "/ocn")?,
        row: row.clone(),
    };
    Ok((found, number(&body, "/pagination/total")?))
}

/// Notices a version that answers from older data than the current one: that can be read by others
/// only. `assigned` is what the statistics of the current data say, and `found` what a search did.
pub fn current(assigned: u64, found: u64) -> Result<(), Wrong> {
    if found == assigned {
        return Ok(());
    }
    let (field, expected) = ("/pagination/total", assigned.to_string());
    Err(Wrong::Field { field, expected, actual: json!(found) })
}

/// The result of a tool, which is what `/v1/lookup` answers.
pub fn tool(answer: Answer, found: &Found) -> Result<(), Wrong> {
    let body = with_status(answer, 200)?;
    field(&body, "/result/isError", &json!(false))?;
    field(&body, "/result/structuredContent/npa", &json!(found.npa))?;
    field(&body, "/result/structuredContent/nxx", &json!(found.nxx))?;
    field(&body, "/result/structuredContent/status", &found.row["status"])
}

/// The result of a tool before the first import.
pub fn tool_without_data(answer: Answer) -> Result<(), Wrong> {
    let body = with_status(answer, 200)?;
    field(&body, "/result/isError", &json!(true))?;
    field(&body, "/result/structuredContent/error", &json!("service_unavailable"))
}

pub fn exchange(answer: Answer, found: &Found) -> Result<(), Wrong> {
    let body = with_status(answer, 200)?;
    field(&body, "/npa", &json!(found.npa))?;
    field(&body, "/exchanges/0/nxx", &json!(found.nxx))?;
    field(&body, "/exchanges/0/ocn", &json!(found.ocn))?;
    field(&body, "/exchanges/0/company_name", &found.row["company_name"])?;
    field(&body, "/exchanges/0/rate_center", &found.row["rate_center"])?;
    field(&body, "/exchanges/0/status", &found.row["status"])
}

pub fn area_code(answer: Answer, found: &Found) -> Result<(), Wrong> {
    let body = with_status(answer, 200)?;
    field(&body, "/npa", &json!(found.npa))?;
    text(&body, "/exchanges/0/nxx")?;
    let total = number(&body, "/total_exchanges")?;
    field(&body, "/pagination/total", &json!(total))
}

pub fn carrier(answer: Answer, found: &Found) -> Result<(), Wrong> {
    let body = with_status(answer, 200)?;
    field(&body, "/ocn", &json!(found.ocn))?;
    number(&body, "/exchanges/total").map(|_| ())
}

pub fn carriers(answer: Answer) -> Result<(), Wrong> {
    let body = with_status(answer, 200)?;
    text(&body, "/carriers/0/ocn")?;
    number(&body, "/pagination/total").map(|_| ())
}

/// What a lookup tells of a number of the exchange: the answer, which that of `/v1/format` must agree
/// with. The number's thousands block may have another holder than the exchange.
pub fn lookup(answer: Answer, found: &Found) -> Result<Value, Wrong> {
    let body = with_status(answer, 200)?;
    field(&body, "/npa", &json!(found.npa))?;
    field(&body, "/nxx", &json!(found.nxx))?;
    field(&body, "/status", &found.row["status"])?;
    match &body["carrier"] {
        Value::Object(_) => Ok(body),
        _ => Err(unlike(&body, "/carrier", "the holder of the block")),
    }
}

/// `looked_up` is the answer about the same number, if there is one. Of a number that Google's rules call
/// invalid the holder is not told.
pub fn format(answer: Answer, found: &Found, looked_up: Option<&Value>) -> Result<(), Wrong> {
    let body = with_status(answer, 200)?;
    field(&body, "/npa", &json!(found.npa))?;
    field(&body, "/nxx", &json!(found.nxx))?;
    match looked_up {
        Some(looked_up) if body["valid"] == true => field(&body, "/carrier", &looked_up["carrier"]),
        _ => Ok(()),
    }
}

/// The results for a single number that was asked for as one of many.
pub fn numbers(answer: Answer, found: &Found, number: &str) -> Result<(), Wrong> {
    let body = with_status(answer, 200)?;
    field(&body, "/results/0/tn", &json!(number))?;
    field(&body, "/results/0/result/npa", &json!(found.npa))?;
    field(&body, "/results/0/result/nxx", &json!(found.nxx))
}

/// The table for the same number, as CSV: a header and one row with the number's area code and exchange.
pub fn table(answer: Answer, found: &Found, number: &str) -> Result<(), Wrong> {
    let body = with_status(answer, 200)?;
    let row = body.as_str().and_then(|table| table.lines().nth(1)).unwrap_or_default();
    let of_block = format!(",{},{},", found.npa, found.nxx);
    if row.starts_with(number) && row.contains(&of_block) {
        return Ok(());
    }
    Err(Wrong::Content(format!("a table with {of_block}")))
}

/// The refusal of a key that is well-formed and not registered. Another refusal would come from somebody
/// else than this service, or would mean that the table of keys was not read.
pub fn unknown_key(answer: Answer) -> Result<(), Wrong> {
    let body = with_status(answer, 401)?;
    field(&body, "/error", &json!("unauthorized"))?;
    field(&body, "/message", &json!("Invalid API key"))
}

/// Whether the value at a place is this one.
fn field(body: &Value, pointer: &'static str, expected: &Value) -> Result<(), Wrong> {
    let actual = body.pointer(pointer).unwrap_or(&Value::Null);
    if actual == expected { Ok(()) } else { Err(unlike(body, pointer, expected)) }
}

fn text(body: &Value, pointer: &'static str) -> Result<String, Wrong> {
    let text = body.pointer(pointer).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| unlike(body, pointer, "a text"))
}

/// A number above zero.
fn number(body: &Value, pointer: &'static str) -> Result<u64, Wrong> {
    let number = body.pointer(pointer).and_then(Value::as_u64).filter(|&number| number > 0);
    number.ok_or_else(|| unlike(body, pointer, "a number above 0"))
}

fn unlike(body: &Value, field: &'static str, expected: impl ToString) -> Wrong {
    let actual = body.pointer(field).cloned().unwrap_or_default();
    Wrong::Field { field, expected: expected.to_string(), actual }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ok(body: Value) -> Answer {
        Answer { status: 200, body }
    }

    fn search_answer() -> Answer {
        ok(json!({
            "results": [
                { "npa": "201", "nxx": "200", "ocn": null, "status": "ASSIGNED" },
                { "npa": "201", "nxx": "201", "ocn": "9206", "company_name": "A", "rate_center": "B",
                  "status": "ASSIGNED" }
            ],
            "pagination": { "total": 7 }
        }))
    }

    fn found() -> Found {
        search(search_answer()).unwrap().0
    }

    fn reason<T>(outcome: Result<T, Wrong>) -> String {
        outcome.err().unwrap().to_string()
    }

    #[test]
    fn a_search_gives_the_first_exchange_whose_holder_has_an_ocn() {
        let (found, total) = search(search_answer()).unwrap();
        assert_eq!(
            (found.npa.as_str(), found.nxx.as_str(), found.ocn.as_str()),
            ("201", "201", "9206")
        );
        assert_eq!(total, 7);
        let none = ok(json!({ "results": [], "pagination": { "total": 0 } }));
        assert_eq!(reason(search(none)), "/results/0/ocn is null, and must be an OCN");
    }

    #[test]
    fn an_exchange_must_be_the_one_that_was_found_in_every_part() {
        let right = json!({ "npa": "201", "exchanges": [{
            "nxx": "201", "ocn": "9206", "company_name": "A", "rate_center": "B", "status": "ASSIGNED"
        }] });
        exchange(ok(right.clone()), &found()).unwrap();
        for part in ["nxx", "ocn", "company_name", "rate_center", "status"] {
            let mut wrong = right.clone();
            wrong["exchanges"][0][part] = json!("X");
            assert!(reason(exchange(ok(wrong), &found())).contains(part), "{part}");
        }
    }

    #[test]
    fn a_number_is_told_alike_by_lookup_and_format_if_it_is_valid() {
        let of_9206 = json!({ "npa": "201", "nxx": "201", "status": "ASSIGNED", "valid": true,
                              "carrier": { "ocn": "9206" } });
        let looked_up = lookup(ok(of_9206.clone()), &found()).unwrap();
        format(ok(of_9206.clone()), &found(), Some(&looked_up)).unwrap();
        let mut other = of_9206;
        other["carrier"]["ocn"] = json!("9999");
        assert!(format(ok(other.clone()), &found(), Some(&looked_up)).is_err());
        other["valid"] = json!(false);
        format(ok(other), &found(), Some(&looked_up)).unwrap();
    }

    #[test]
    fn a_document_is_whole_and_a_table_has_the_row() {
        let text = |text: &str| ok(json!(text));
        page(text("<title>A</title><body></body>")).unwrap();
        for wrong in [text("<title>A</title><body>"), text(""), ok(json!({}))] {
            assert_eq!(reason(page(wrong)), "the body must be a document");
        }
        let number = "+12012010000";
        table(text("tn,tn_npa,tn_nxx,x\n+12012010000,201,201,"), &found(), number).unwrap();
        for wrong in
            ["", "tn\n", "tn,a,b,x\n+12012010000,201,202,", "tn,a,b,x\n+12012010001,201,201,"]
        {
            let reason = reason(table(text(wrong), &found(), number));
            assert_eq!(reason, "the body must be a table with ,201,201,", "{wrong}");
        }
    }

    #[test]
    fn health_tells_a_service_before_its_first_import_from_one_that_is_ill() {
        let body = |status: &str, database: &str, imported: Value| {
            ok(json!({ "status": status, "database": database, "last_ingestion": imported }))
        };
        assert_eq!(health(body("degraded", "connected", Value::Null)).unwrap(), Health::Empty);
        let imported = health(body("healthy", "connected", json!("1970-01-01T00:00:00Z"))).unwrap();
        assert_eq!(imported, Health::Imported(Timestamp::UNIX_EPOCH));
        assert!(health(body("degraded", "error", json!("1970-01-01T00:00:00Z"))).is_err());
        assert!(health(body("degraded", "error", Value::Null)).is_err());
        assert!(health(body("healthy", "connected", json!("yesterday"))).is_err());
    }

    #[test]
    fn only_our_own_refusal_of_a_key_counts() {
        let refusal = json!({ "error": "unauthorized", "message": "Invalid API key" });
        unknown_key(Answer { status: 401, body: refusal }).unwrap();
        let of_gateway = Answer { status: 401, body: json!({ "message": "Unauthorized" }) };
        assert!(unknown_key(of_gateway).is_err());
        let busy = Answer { status: 503, body: json!({ "error": "service_unavailable" }) };
        let expected = "the status is 503 (service_unavailable), and must be 401";
        assert_eq!(reason(unknown_key(busy)), expected);
    }
}
