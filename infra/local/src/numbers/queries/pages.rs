//! Reads lists page by page, because a response from the API has at most 100 results.

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, Uri, header::LINK},
};
use indicatif::HumanCount;
use serde_json::Value;
use shared::{
    auth::Charge,
    in_process::InProcess,
    pagination::{MAX_LIMIT, pin},
};

use super::{Params, check_status, get, parse_json};
use crate::{CliError, numbers::args::PageArgs, terminal::show_note};

/// The results in a table without `--limit`. Other formats have all of them.
const TABLE_LIMIT: usize = 50;

/// A list route with its parameters.
pub(super) struct ListRoute<'a> {
    path: &'a str,
    params: Params<'a>,
    page: &'a PageArgs,
    /// The number of results without `--limit`; `None` for all.
    default_limit: Option<usize>,
}

/// Pages of a list.
struct Pages<T> {
    pages: Vec<T>,
    has_more: bool,
}

impl<'a> ListRoute<'a> {
    /// A list to print as a table, or else all of it.
    pub fn new(path: &'a str, params: Params<'a>, page: &'a PageArgs, is_table: bool) -> Self {
        Self { path, params, page, default_limit: is_table.then_some(TABLE_LIMIT) }
    }

    /// The results in a field `list`, as one response.
    pub async fn json(&self, api: &InProcess, list: &str) -> Result<Value, CliError> {
        let parse = |body: &[u8]| {
            let page = parse_json(self.path, body)?;
            let count = page[list].as_array().map_or(0, Vec::len);
            Ok((page, count))
        };
        let mut pages = self.read(api, "json", parse).await?.pages.into_iter();
        let mut merged = pages.next().unwrap_or_default();
        for mut page in pages {
            let (mut results, mut total) = (merged[list].take(), total(&merged));
            if let (Some(results), Some(more)) = (results.as_array_mut(), page[list].as_array_mut())
            {
                results.append(more);
            }
            // Changes continue in a further list.
            if page["pagination"]["offset"] == 0 {
                total += self::total(&page);
            }
            let (offset, since) = (merged["pagination"]["offset"].take(), merged["since"].take());
            merged = page;
            merged[list] = results;
            (merged["pagination"]["offset"], merged["pagination"]["total"]) =
                (offset, total.into());
            if !since.is_null() {
                merged["since"] = since;
            }
        }
        let limit = self.limit().map_or(total(&merged), |limit| limit as u64);
        merged["pagination"]["limit"] = limit.into();
        Ok(merged)
    }

    /// The results as CSV, and the note on those left out, if any. `count` returns the number of results in a page.
    pub async fn csv(
        &self,
        api: &InProcess,
        count: impl Fn(&str) -> usize,
    ) -> Result<(String, Option<String>), CliError> {
        let mut shown = 0;
        let parse = |body: &[u8]| {
            let page = String::from_utf8_lossy(body).into_owned();
            let count = count(&page);
            shown += count as u64;
            Ok((page, count))
        };
        let Pages { pages, has_more } = self.read(api, "csv", parse).await?;
        let mut csv = String::new();
        for page in pages {
            // Every page has a header row.
            let (_, rows) = page.split_once('\n').unwrap_or_default();
            csv += if csv.is_empty() { &page } else { rows };
        }
        if !has_more {
            return Ok((csv, None));
        }
        let mut params = self.params.clone();
        params.extend(self.page.offset.as_deref().map(|offset| ("offset", offset)));
        let list = get(api, self.path, &params).await?;
        Ok((csv, note_on_rest(&list["pagination"], shown)))
    }

    fn limit(&self) -> Option<usize> {
        match &self.page.limit {
            Some(limit) => limit.parse().ok(),
            None => self.default_limit,
        }
    }

    /// Reads pages until `parse` has counted enough results.
    async fn read<T>(
        &self,
        api: &InProcess,
        format: &str,
        mut parse: impl FnMut(&[u8]) -> Result<(T, usize), CliError>,
    ) -> Result<Pages<T>, CliError> {
        let mut left = self.limit();
        let page_size = |left: Option<usize>| left.map_or(MAX_LIMIT, |left| left.min(MAX_LIMIT));
        let mut params = self.params.clone();
        let first_size = page_size(left).to_string();
        params.extend(self.page.offset.as_deref().map(|offset| ("offset", offset)));
        // The API's message says how an invalid limit is wrong.
        let invalid = self.page.limit.as_deref().filter(|_| left.is_none());
        params.extend([("format", format), ("limit", invalid.unwrap_or(&first_size))]);
        let mut response = api.get(self.path, params, Charge::default()).await;
        let mut pages = Vec::new();
        loop {
            let next = next_page(&response.headers);
            let (page, count) = parse(&check_status(self.path, response)?)?;
            pages.push(page);
            left = left.map(|left| left.saturating_sub(count));
            match next {
                Some(next) if left != Some(0) => {
                    let mut request = Request::new(Body::empty());
                    *request.uri_mut() = pin(&next, "limit", page_size(left));
                    request.extensions_mut().insert(Charge::default());
                    response = api.send(request).await;
                }
                next => return Ok(Pages { pages, has_more: next.is_some() }),
            }
        }
    }
}

/// The URL of the next page in a `Link` header.
fn next_page(headers: &HeaderMap) -> Option<Uri> {
    let links = headers.get(LINK)?.to_str().ok()?;
    let next = links.split(", ").find_map(|link| link.strip_suffix(">; rel=\"next\""))?;
    next.strip_prefix('<')?.parse().ok()
}

fn total(list: &Value) -> u64 {
    list["pagination"]["total"].as_u64().unwrap_or_default()
}

/// Prints the number of results that are left after those in a response's field `list`, if any.
pub(super) fn show_rest(response: &Value, list: &str) {
    let shown = response[list].as_array().map_or(0, Vec::len) as u64;
    if let Some(note) = note_on_rest(&response["pagination"], shown) {
        show_note(&note);
    }
}

fn note_on_rest(pagination: &Value, shown: u64) -> Option<String> {
    let [offset, total] = ["offset", "total"].map(|it| pagination[it].as_u64().unwrap_or_default());
    let from_offset = total.saturating_sub(offset);
    let left = from_offset.saturating_sub(shown);
    let [left_count, total] = [left, total].map(HumanCount);
    let note = || {
        format!(
            "note: {left_count} of {total} results are not shown; --limit {from_offset} shows them"
        )
    };
    (left > 0).then(note)
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
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

    #[derive(Serialize)]
    struct Row {
        result: usize,
    }

    impl Rows for List {
        const COLUMNS: &'static [&'static str] = &["result"];

        fn rows(&self) -> impl Iterator<Item = impl Serialize> {
            self.results.iter().map(|&result| Row { result })
        }
    }

    /// A list of 250 results, which continues in one of 77.
    async fn list(
        uri: Uri,
        page: Page,
        FormatParam { format }: FormatParam,
    ) -> axum::response::Response {
        let is_continued = uri.query().is_some_and(|query| query.contains("part=2"));
        let (results, pagination) = page.slice(if is_continued { 250..327 } else { 0..250 });
        let continuation = pin(&pin(&uri, "part", 2), "offset", 0);
        let is_last = page.offset + page.limit >= 250 && !is_continued;
        let body = List { results, pagination };
        let response = PageResponse { uri, pagination, version: None, format, body };
        response.into_response_with(is_last.then_some(&continuation))
    }

    fn api() -> InProcess {
        let store = Store::connect_to_emulator("http://127.0.0.1:1", TimeoutProfile::Request);
        let routes = Routes::new([Route::undocumented_get("/list", get(list))]);
        InProcess::new([routes], App::with_store(store))
    }

    fn page_args(limit: Option<&str>, offset: Option<&str>) -> PageArgs {
        PageArgs { limit: limit.map(str::to_owned), offset: offset.map(str::to_owned) }
    }

    #[tokio::test]
    async fn lists_are_complete_without_a_limit_and_exact_with_one() {
        let api = api();
        for (is_table, limit, offset, expected, total) in [
            (true, None, None, 0..50, 250),
            (false, None, None, 0..327, 327),
            (false, None, Some("240"), 240..327, 327),
            (true, Some("1"), None, 0..1, 250),
            (false, Some("99"), None, 0..99, 250),
            (true, Some("100"), Some("20"), 20..120, 250),
            (false, Some("101"), None, 0..101, 250),
            (false, Some("200"), None, 0..200, 250),
            (false, Some("260"), None, 0..260, 327),
            (false, Some("1000"), Some("10"), 10..327, 327),
        ] {
            let page = page_args(limit, offset);
            let route = ListRoute::new("/list", Vec::new(), &page, is_table);
            let found = route.json(&api, "results").await.unwrap();
            let results = expected.clone().collect::<Vec<_>>();
            assert_eq!(found["results"], json!(results), "{limit:?} {offset:?}");
            let limit = limit.map_or(if is_table { 50 } else { total }, |it| it.parse().unwrap());
            let pagination = json!({ "limit": limit, "offset": expected.start, "total": total });
            assert_eq!(found["pagination"], pagination, "{limit:?} {offset:?}");

            let lines = results.iter().map(|result| format!("{result}\n"));
            if !is_table {
                let (csv, _) = route.csv(&api, |page| page.lines().count() - 1).await.unwrap();
                let csv = csv.replace("\r\n", "\n");
                assert_eq!(csv, "result\n".to_owned() + &lines.collect::<String>());
            }
        }
    }

    #[tokio::test]
    async fn csv_with_a_limit_says_how_many_results_are_left() {
        let api = api();
        let (page, all) = (page_args(Some("120"), Some("20")), page_args(None, None));
        let route = ListRoute::new("/list", Vec::new(), &page, false);
        let note = "note: 110 of 250 results are not shown; --limit 230 shows them";
        assert_eq!(
            route.csv(&api, |page| page.lines().count() - 1).await.unwrap().1.as_deref(),
            Some(note)
        );
        let route = ListRoute::new("/list", Vec::new(), &all, false);
        assert_eq!(route.csv(&api, |page| page.lines().count() - 1).await.unwrap().1, None);
    }

    #[tokio::test]
    async fn invalid_limits_get_the_apis_message() {
        for limit in ["0", "x", "-1"] {
            let page = page_args(Some(limit), None);
            let route = ListRoute::new("/list", Vec::new(), &page, false);
            let error = route.json(&api(), "results").await.unwrap_err().to_string();
            assert_eq!(error, format!("limit must be a positive integer, got '{limit}'"));
        }
    }

    #[test]
    fn note_says_how_many_results_are_left() {
        for (offset, total, shown, expected) in [
            (0, 327, 50, Some("277 of 327 results are not shown; --limit 327 shows them")),
            (50, 1327, 50, Some("1,227 of 1,327 results are not shown; --limit 1277 shows them")),
            (0, 51, 50, Some("1 of 51 results are not shown; --limit 51 shows them")),
            (0, 50, 50, None),
            (300, 327, 27, None),
            (400, 327, 0, None),
            (0, 0, 0, None),
        ] {
            let note = note_on_rest(&json!({ "offset": offset, "total": total }), shown);
            let expected = expected.map(|text| format!("note: {text}"));
            assert_eq!(note, expected, "{shown} of {total} from {offset}");
        }
    }
}
