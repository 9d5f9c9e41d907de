//! The documentation page, which shows the API and sends requests.

use std::sync::LazyLock;

use axum::{http::HeaderMap, response::Response};

use crate::document::Document;

pub static DOCS: LazyLock<Document> = LazyLock::new(|| {
    let style = include_str!("../assets/docs/docs.css");
    Document::assemble(include_str!("../assets/docs/docs.html"), style, &SCRIPTS)
});
/// The parts of the script. The last one starts it.
const SCRIPTS: [&str; 4] = [
    include_str!("../assets/docs/script/schemas.js"),
    include_str!("../assets/docs/script/requests_to_try.js"),
    include_str!("../assets/docs/script/operation.js"),
    include_str!("../assets/docs/script/docs.js"),
];

/// Serves the documentation.
pub async fn docs(headers: HeaderMap) -> Response {
    DOCS.response(&headers, "")
}
