//! The documentation page, which shows the API and sends requests.

use std::sync::LazyLock;

use axum::{http::HeaderMap, response::Response};

use crate::document::Document;

static DOCS: LazyLock<Document> = LazyLock::new(|| {
    Document::assemble(include_str!("../assets/docs/docs.html"), &STYLES, &SCRIPTS)
});
const STYLES: [&str; 2] =
    [include_str!("../assets/shared/base.css"), include_str!("../assets/docs/docs.css")];
/// The parts of the script, in one scope. The last one starts it.
const SCRIPTS: [&str; 9] = [
    include_str!("../assets/shared/elements.js"),
    include_str!("../assets/shared/requests.js"),
    include_str!("../assets/shared/field_errors.js"),
    include_str!("../assets/shared/key.js"),
    include_str!("../assets/shared/json.js"),
    include_str!("../assets/docs/script/schemas.js"),
    include_str!("../assets/docs/script/requests_to_try.js"),
    include_str!("../assets/docs/script/operation.js"),
    include_str!("../assets/docs/script/docs.js"),
];

/// Serves the documentation.
pub async fn docs(headers: HeaderMap) -> Response {
    DOCS.response(&headers, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_is_one_document_with_every_placeholder_filled() {
        DOCS.assert_whole();
    }
}
