//! The documentation for browsers: a page that shows the description of the API, and sends its requests.

use std::sync::LazyLock;

use axum::{http::HeaderMap, response::Response};

use crate::document::Document;

static DOCS: LazyLock<Document> = LazyLock::new(|| {
    Document::assemble(include_str!("../assets/docs/docs.html"), &STYLES, &SCRIPTS)
});
const STYLES: [&str; 2] =
    [include_str!("../assets/shared/base.css"), include_str!("../assets/docs/docs.css")];
/// The parts of the script, which share one scope. The last one starts it.
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

/// Answers with the documentation.
pub async fn docs(headers: HeaderMap) -> Response {
    DOCS.response(&headers, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_is_one_document_with_nothing_left_to_fill_in() {
        DOCS.assert_whole();
    }
}
