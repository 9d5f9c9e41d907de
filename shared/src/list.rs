//! Requests for a page of a list.

use axum::{
    extract::FromRequestParts,
    http::{Uri, request::Parts},
};
use numbering::{dataset::Dataset, records::Version};
use store::LoadedVersion;

use crate::{
    csv_pages::{FormatParam, ListFormat},
    errors::ApiError,
    pagination::{Page, PageResponse, Pagination, VersionParam},
    params::Params,
    state::App,
};

pub struct ListRequest {
    pub uri: Uri,
    pub page: Page,
    pub version: VersionParam,
    pub format: ListFormat,
    pub params: Params,
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
    /// The response with the page that `list` selects from the requested version of the data.
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
        PageResponse { uri, pagination, version: version.map(Version::to_string), format, body }
    }
}
