//! Calls the API's routes, and converts their errors to command errors. Reads lists page by page, because a response
//! has at most 100 results.

use std::borrow::Cow;

use axum::{body::Body, extract::Request, http::StatusCode};
use indicatif::HumanCount;
use itertools::Itertools;
use serde_json::Value;
use shared::{
    auth::Charge,
    in_process::{InProcessRoutes, RouteResponse},
    pagination::{MAX_LIMIT, next_page, pin},
};

use crate::{CliError, error::Context};

pub(super) type Params<'a> = Vec<(&'a str, Cow<'a, str>)>;

pub(super) async fn get<'a>(
    api: &InProcessRoutes,
    path: &str,
    params: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Value, CliError> {
    let response = api.get(path, params, Charge::default()).await;
    parse_json(path, &check_status(path, response)?)
}

/// Returns a response's body, or the API's message as an error.
fn check_status(path: &str, response: RouteResponse) -> Result<Vec<u8>, CliError> {
    if response.status.is_success() {
        return Ok(response.body.to_vec());
    }
    let body = parse_json(path, &response.body)?;
    let message = lower_first(body["message"].as_str().unwrap_or_default());
    match response.status {
        StatusCode::NOT_FOUND => Err(CliError::NotFound(message)),
        _ => Err(CliError::failed(message)),
    }
}

fn parse_json(path: &str, body: &[u8]) -> Result<Value, CliError> {
    serde_json::from_slice(body).context(format!("the response from {path} is not JSON"))
}

/// Lowercases the first letter, as needed after `error: `, unless the message starts with an abbreviation.
pub(super) fn lower_first(message: &str) -> String {
    let mut characters = message.chars();
    match (characters.next(), characters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => message.to_owned(),
    }
}

/// The maximum number of results in a table if `--limit` is not set. Other formats show all results.
const TABLE_LIMIT: &str = "50";

/// A request for a list, or for a record, which has a single page.
pub(super) struct ListRequest<'a> {
    path: &'a str,
    params: Vec<(&'a str, &'a str)>,
    /// `None` for all results.
    limit: Option<&'a str>,
}

impl<'a> ListRequest<'a> {
    /// Creates a request for the number of results that `--limit` allows. Tables have a default limit.
    pub fn new(path: &'a str, params: &'a Params<'_>, is_table: bool) -> Self {
        let params = params.iter().map(|(name, value)| (*name, &**value));
        let (limits, params): (Vec<_>, Vec<_>) = params.partition(|(name, _)| *name == "limit");
        let given = limits.first().map(|(_, limit)| *limit);
        Self { path, params, limit: given.or(is_table.then_some(TABLE_LIMIT)) }
    }

    pub async fn json(&self, api: &InProcessRoutes) -> Result<Value, CliError> {
        let mut merged = Value::Null;
        let merge_page = |body: &[u8]| {
            let page = parse_json(self.path, body)?;
            let count = results(&page).len();
            merged = merge(merged.take(), page);
            Ok(count)
        };
        self.read(api, "json", merge_page).await?;
        if let Some(Value::Object(pagination)) = merged.get_mut("pagination") {
            let limit = self.limit.and_then(|limit| limit.parse::<u64>().ok());
            let limit = limit.map_or_else(|| pagination["total"].clone(), Value::from);
            pagination.insert("limit".to_owned(), limit);
        }
        Ok(merged)
    }

    /// The results as CSV, and whether there are more.
    pub async fn csv(&self, api: &InProcessRoutes) -> Result<(String, bool), CliError> {
        let mut csv = String::new();
        let add_page = |body: &[u8]| {
            let page = String::from_utf8_lossy(body);
            // Every page has a header row.
            let (_, rows) = page.split_once('\n').unwrap_or_default();
            csv += if csv.is_empty() { &page } else { rows };
            Ok(count_rows(&page))
        };
        let has_more = self.read(api, "csv", add_page).await?;
        Ok((csv, has_more))
    }

    /// Reads pages until `add_page` has counted enough results. Returns whether there are more.
    async fn read(
        &self,
        api: &InProcessRoutes,
        format: &str,
        mut add_page: impl FnMut(&[u8]) -> Result<usize, CliError>,
    ) -> Result<bool, CliError> {
        let mut left = self.limit.and_then(|limit| limit.parse::<usize>().ok());
        let page_size = |left: Option<usize>| left.map_or(MAX_LIMIT, |left| left.min(MAX_LIMIT));
        let first_size = page_size(left).to_string();
        // If the limit is invalid, the API's message says why.
        let invalid = self.limit.filter(|_| left.is_none());
        let added = [("format", format), ("limit", invalid.unwrap_or(&first_size))];
        let params = self.params.iter().copied().chain(added);
        let mut response = api.get(self.path, params, Charge::default()).await;
        loop {
            let next = next_page(&response.headers);
            let count = add_page(&check_status(self.path, response)?)?;
            left = left.map(|left| left.saturating_sub(count));
            let next = match next {
                Some(next) if left != Some(0) => next,
                next => return Ok(next.is_some()),
            };
            let mut request = Request::new(Body::empty());
            *request.uri_mut() = pin(&next, "limit", page_size(left));
            request.extensions_mut().insert(Charge::default());
            response = api.send(request).await;
        }
    }
}

pub(super) fn list_name(response: &Value) -> Option<&str> {
    let fields = response.as_object().filter(|fields| fields.contains_key("pagination"))?;
    fields.iter().find(|(_, value)| value.is_array()).map(|(name, _)| name.as_str())
}

pub(super) fn results(response: &Value) -> &[Value] {
    let list = list_name(response).and_then(|list| response[list].as_array());
    list.map(Vec::as_slice).unwrap_or_default()
}

/// Counts the results in a CSV page. A change has one row per field.
fn count_rows(page: &str) -> usize {
    let mut reader = csv::Reader::from_reader(page.as_bytes());
    let columns = reader.headers().map(|names| names.iter().position(|name| name == "field"));
    let columns = columns.ok().flatten().unwrap_or(usize::MAX);
    let rows = reader.records().flatten();
    rows.map(|row| row.iter().take(columns).map(str::to_owned).collect::<Vec<_>>()).dedup().count()
}

/// Appends a page to the earlier pages, if any.
fn merge(mut before: Value, mut page: Value) -> Value {
    let Some(list) = list_name(&page).filter(|_| !before.is_null()).map(str::to_owned) else {
        return page;
    };
    let mut total = total(&before);
    // Changes continue in another list.
    if page["pagination"]["offset"] == 0 {
        total += self::total(&page);
    }
    let mut results = before[&list].take();
    if let (Some(results), Some(more)) = (results.as_array_mut(), page[&list].as_array_mut()) {
        results.append(more);
    }
    page[&list] = results;
    page["pagination"]["offset"] = before["pagination"]["offset"].take();
    page["pagination"]["total"] = total.into();
    if before["since"].is_object() {
        page["since"] = before["since"].take();
    }
    page
}

fn total(list: &Value) -> u64 {
    list["pagination"]["total"].as_u64().unwrap_or_default()
}

pub(super) fn more_results_note(pagination: &Value, shown: usize) -> Option<String> {
    let [offset, total] = ["offset", "total"].map(|it| pagination[it].as_u64().unwrap_or_default());
    let from_offset = total.saturating_sub(offset);
    let left = from_offset.saturating_sub(shown as u64);
    let [left_count, total] = [left, total].map(HumanCount);
    (left > 0).then(|| {
        format!(
            "note: {left_count} of {total} results are not shown; --limit {from_offset} shows them"
        )
    })
}

#[cfg(test)]
mod tests {
    use axum::{http::Uri, response::IntoResponse, routing};
    use serde::Serialize;
    use serde_json::json;
    use shared::{
        csv_pages::{FormatParam, Rows},
        pagination::{Page, PageResponse, Pagination},
        routes::{Route, Routes},
        state::App,
    };
    use store::{Store, TimeoutProfile};

    use super::*;

    #[derive(Serialize)]
    struct List {
        results: Vec<usize>,
        pagination: Pagination,
    }

    impl Rows for List {
        const COLUMNS: &'static str = "result";

        fn rows(&self) -> impl Iterator<Item = impl Serialize> {
            self.results.iter().map(|result| json!({ "result": result }))
        }
    }

    /// A list of 250 results that continues in another list of 77.
    async fn list(
        uri: Uri,
        page: Page,
        FormatParam { format }: FormatParam,
    ) -> axum::response::Response {
        let is_continued = uri.query().is_some_and(|query| query.contains("part=2"));
        let (results, pagination) = page.slice(if is_continued { 250..327 } else { 0..250 });
        let is_last = page.offset + page.limit >= 250 && !is_continued;
        let continuation = is_last.then(|| pin(&pin(&uri, "part", 2), "offset", 0));
        let body = List { results, pagination };
        PageResponse { uri, pagination, version: None, format, continuation, body }.into_response()
    }

    fn api() -> InProcessRoutes {
        let store = Store::connect_to_emulator("http://127.0.0.1:1", TimeoutProfile::Request);
        let routes = Routes::new([Route::undocumented_get("/list", routing::get(list))]);
        InProcessRoutes::new([routes], App::with_store(store))
    }

    fn params(limit: Option<&'static str>, offset: Option<&'static str>) -> Params<'static> {
        let given = [("limit", limit), ("offset", offset)].into_iter();
        given.filter_map(|(name, value)| Some((name, value?.into()))).collect()
    }

    #[tokio::test]
    async fn lists_are_complete_without_a_limit_and_exact_with_one() {
        let api = api();
        for (is_table, limit, offset, expected, total) in [
            (true, None, None, 0..50, 250),
            (false, None, None, 0..327, 327),
            (false, None, Some("240"), 240..327, 327),
            (true, Some("1"), None, 0..1, 250),
            (true, Some("100"), Some("20"), 20..120, 250),
            (false, Some("101"), None, 0..101, 250),
            (false, Some("260"), None, 0..260, 327),
        ] {
            let params = params(limit, offset);
            let request = ListRequest::new("/list", &params, is_table);
            let found = request.json(&api).await.unwrap();
            let results = expected.clone().collect::<Vec<_>>();
            assert_eq!(found["results"], json!(results), "{limit:?} {offset:?}");
            let limit = limit.map_or(if is_table { 50 } else { total }, |it| it.parse().unwrap());
            let pagination = json!({ "limit": limit, "offset": expected.start, "total": total });
            assert_eq!(found["pagination"], pagination, "{limit:?} {offset:?}");

            let lines = results.iter().map(|result| format!("{result}\n"));
            let (csv, has_more) = request.csv(&api).await.unwrap();
            let csv = csv.replace("\r\n", "\n");
            assert_eq!(csv, "result\n".to_owned() + &lines.collect::<String>());
            assert_eq!(has_more, expected.end < 327, "{limit:?} {offset:?}");
        }
    }

    #[tokio::test]
    async fn invalid_limits_get_the_apis_message() {
        for limit in ["0", "x", "-1"] {
            let params = params(Some(limit), None);
            let request = ListRequest::new("/list", &params, false);
            let error = request.json(&api()).await.unwrap_err().to_string();
            assert_eq!(error, format!("limit must be a positive integer, got '{limit}'"));
        }
    }
}
