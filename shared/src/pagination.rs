//! Limit and offset pagination for lists.

use std::ops::RangeInclusive;

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, Uri, header::LINK, request::Parts},
    response::{IntoResponse, Response},
};
use numbering::{dataset::Dataset, records::Version};
use serde::Serialize;
use store::LoadedVersion;
use utoipa::{
    IntoParams, ToSchema,
    openapi::path::{Parameter, ParameterIn},
};

use crate::{
    csv_pages::{self, FormatParam, ListFormat, Rows},
    errors::ApiError,
    json::json_response,
    params::{Params, invalid_param, query_without},
    state::App,
};

const DEFAULT_LIMIT: usize = 50;
pub const MAX_LIMIT: usize = 100;
/// The largest integer that every JSON client can represent exactly (RFC 8259, section 6).
const MAX_OFFSET: usize = (1 << 53) - 1;

const VERSION_RULE: &str =
    "must be a data version from a Link header, such as '20261121T090003Z-5fGh2kLmN8pQrS1t'";

/// The requested page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Page {
    /// Page size. Values above 100 are lowered to 100.
    #[param(required = false, minimum = 1, default = 50)]
    pub limit: usize,
    /// Number of results to skip.
    #[param(required = false, minimum = 0, maximum = 9_007_199_254_740_991_u64, default = 0, format = Int64)]
    pub offset: usize,
}

impl<S: Sync> FromRequestParts<S> for Page {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let params = Params::from_uri(&parts.uri);
        let limit = parse_count(&params, "limit", 1..=usize::MAX, "must be a positive integer")?;
        // Larger offsets are rejected, because the response repeats the offset that the client sent.
        let rule = format!("must be a non-negative integer of at most {MAX_OFFSET}");
        let offset = parse_count(&params, "offset", 0..=MAX_OFFSET, &rule)?;
        Ok(Self {
            limit: limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT),
            offset: offset.unwrap_or_default(),
        })
    }
}

/// The requested data version.
#[derive(Debug, Clone, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct VersionParam {
    /// Data version from the URLs in `Link` headers, so that all pages of a list come from the same version. Defaults
    /// to the current version.
    #[param(pattern = "^[0-9]{8}T[0-9]{6}Z-[0-9A-Za-z]{16}$")]
    pub version: Option<String>,
}

impl<S: Sync> FromRequestParts<S> for VersionParam {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let version = Params::from_uri(&parts.uri).text("version")?;
        if let Some(text) = version.as_deref().filter(|text| Version::parse(text).is_none()) {
            return Err(invalid_param("version", text, VERSION_RULE));
        }
        Ok(Self { version })
    }
}

impl Page {
    /// The items on this page, with its position. Record lists implement `skip` without building the skipped records.
    pub fn slice<T>(self, items: impl ExactSizeIterator<Item = T>) -> (Vec<T>, Pagination) {
        let pagination = Pagination { limit: self.limit, offset: self.offset, total: items.len() };
        (items.skip(self.offset).take(self.limit).collect(), pagination)
    }
}

/// The URL of the next page in a response's `Link` header.
pub fn next_page(headers: &HeaderMap) -> Option<Uri> {
    let links = headers.get(LINK)?.to_str().ok()?;
    let next = links.split(", ").find_map(|link| link.strip_suffix(">; rel=\"next\""))?;
    next.strip_prefix('<')?.parse().ok()
}

/// Sets a parameter in a URL, so that links to other pages refer to the same data as this page.
pub fn pin(uri: &Uri, name: &str, value: impl ToString) -> Uri {
    let query = query_without(uri, &[name]).append_pair(name, &value.to_string()).finish();
    format!("{}?{query}", uri.path()).parse().expect("the path is valid, and the query is encoded")
}

/// Parses the value of `name` as an integer in `range`.
fn parse_count(
    params: &Params,
    name: &str,
    range: RangeInclusive<usize>,
    rule: &str,
) -> Result<Option<usize>, ApiError> {
    let Some(text) = params.text(name)? else { return Ok(None) };
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Parsing fails only if the value is too large for the type.
        let count = text.parse().unwrap_or(usize::MAX);
        if range.contains(&count) {
            return Ok(Some(count));
        }
    }
    Err(invalid_param(name, &text, rule))
}

/// A page's position in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Pagination {
    /// Page size: the requested `limit`, lowered to 100.
    #[schema(minimum = 1, maximum = 100)]
    pub limit: usize,
    /// Number of results skipped.
    #[schema(format = Int64)]
    pub offset: usize,
    /// Total number of matching results, independent of the page.
    pub total: usize,
}

/// A page as a response, with a `Link` header to the next and previous pages (RFC 8288).
pub struct PageResponse<T> {
    pub uri: Uri,
    pub pagination: Pagination,
    /// The data version to put in links; `None` if the list has only one page.
    pub version: Option<String>,
    pub format: ListFormat,
    /// The URL of another list that continues after the last page, if any.
    pub continuation: Option<Uri>,
    pub body: T,
}

impl<T: Serialize + Rows> IntoResponse for PageResponse<T> {
    fn into_response(self) -> Response {
        let response = match self.format {
            ListFormat::Csv => csv_pages::response(&self.uri, &self.body),
            ListFormat::Json => json_response(&self.body),
        };
        self.with_links(response)
    }
}

impl<T> PageResponse<T> {
    /// Adds the `Link` header to a response with this page.
    pub fn with_links(&self, mut response: Response) -> Response {
        let mut links = self.links();
        links.extend(self.continuation.iter().map(|uri| format!("<{uri}>; rel=\"next\"")));
        if !links.is_empty() {
            let value = HeaderValue::try_from(links.join(", "))
                .expect("the path has valid parameters, and the query is encoded");
            response.headers_mut().insert(LINK, value);
        }
        response
    }

    /// The links to the next and previous pages.
    fn links(&self) -> Vec<String> {
        let Pagination { limit, offset, total } = self.pagination;
        let next = offset.checked_add(limit).filter(|&next| next < total);
        let previous = (offset > 0).then(|| offset.min(total).saturating_sub(limit));
        let pages = [("next", next), ("prev", previous)];
        let link = |(relation, offset): (&str, Option<usize>)| {
            Some(format!("<{}>; rel=\"{relation}\"", self.target_with_offset(offset?)))
        };
        pages.into_iter().filter_map(link).collect()
    }

    /// The request's path and query with a different offset, and the version. Omits the key, because URLs are often
    /// logged.
    fn target_with_offset(&self, offset: usize) -> String {
        let query = query_without(&self.uri, &["limit", "offset", "version"])
            .append_pair("limit", &self.pagination.limit.to_string())
            .append_pair("offset", &offset.to_string())
            .extend_pairs(self.version.iter().map(|version| ("version", version)))
            .finish();
        format!("{}?{query}", self.uri.path())
    }
}

/// A request for a page of a list.
pub struct ListRequest {
    pub uri: Uri,
    pub page: Page,
    pub version: VersionParam,
    pub format: ListFormat,
    pub params: Params,
}

impl IntoParams for ListRequest {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let query = || Some(ParameterIn::Query);
        [
            Page::into_params(query),
            VersionParam::into_params(query),
            FormatParam::into_params(query),
        ]
        .concat()
    }
}

impl<S: Sync> FromRequestParts<S> for ListRequest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Ok(Self {
            uri: parts.uri.clone(),
            page: Page::from_request_parts(parts, state).await?,
            version: VersionParam::from_request_parts(parts, state).await?,
            format: FormatParam::from_request_parts(parts, state).await?.format,
            params: Params::from_uri(&parts.uri),
        })
    }
}

impl ListRequest {
    /// Returns the page that `list` selects from the requested version of the data.
    pub async fn list<T>(
        self,
        app: &App,
        list: impl FnOnce(&Dataset, Page) -> (T, Pagination),
    ) -> Result<PageResponse<T>, ApiError> {
        let LoadedVersion { version, dataset } = app.dataset_for_listing(&self.version).await?;
        let (body, pagination) = list(&dataset, self.page);
        Ok(self.response(Some(&version), body, pagination))
    }

    /// The response with a page of this version; `None` if the list is not from a single version.
    pub fn response<T>(
        self,
        version: Option<&Version>,
        body: T,
        pagination: Pagination,
    ) -> PageResponse<T> {
        let Self { uri, format, .. } = self;
        let (version, continuation) = (version.map(Version::to_string), None);
        PageResponse { uri, pagination, version, format, continuation, body }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;
    use crate::case_table::rows;

    async fn page(query: &str) -> Result<Page, ApiError> {
        let request = Request::get(format!("/?{query}")).body(()).unwrap();
        Page::from_request_parts(&mut request.into_parts().0, &()).await
    }

    #[tokio::test]
    async fn pages_have_a_default_and_maximum_size_and_reject_invalid_counts() {
        for [query, expected] in rows(include_str!("page_params.txt")) {
            let found = match page(&query).await {
                Ok(Page { limit, offset }) => format!("{limit} {offset}"),
                Err(ApiError::InvalidRequest { .. }) => "invalid".to_owned(),
                Err(error) => panic!("{error}"),
            };
            assert_eq!(found, expected, "{query}");
        }
    }

    #[test]
    fn links_point_to_the_next_and_previous_pages_without_the_key() {
        for [uri, offset, total, expected] in rows(include_str!("page_links.txt")) {
            let page = Page { limit: 50, offset: offset.parse().unwrap() };
            let (_, pagination) = page.slice(0..total.parse().unwrap());
            let (version, format) = (Some("v2".to_owned()), ListFormat::Json);
            let (uri, continuation) = (uri.parse().unwrap(), None);
            let page = PageResponse { uri, pagination, version, format, continuation, body: () };
            let headers = page.with_links(().into_response()).headers().clone();
            let found = headers.get(LINK).map(|value| value.to_str().unwrap());
            assert_eq!(found.unwrap_or("none"), expected);
        }
        let (items, pagination) = Page { limit: 3, offset: 5 }.slice(0..7);
        assert_eq!(items, [5, 6]);
        assert_eq!(pagination, Pagination { limit: 3, offset: 5, total: 7 });
    }
}
