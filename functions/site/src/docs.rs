//! The documentation for browsers: RapiDoc (<https://rapidocweb.com>) on the description of the API. Its
//! program is embedded as npm publishes it, since no page of this service asks another host for anything.

use std::{io::Read, sync::LazyLock};

use axum::{
    body::Bytes,
    http::{
        Uri,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use flate2::read::GzDecoder;
use shared::{errors::ApiError, params::PathParams};

use crate::html::{self, hash_source};

const DOCUMENT: &str = include_str!("../assets/docs/docs.html");
const SCRIPT: &str = include_str!("../assets/docs/docs.js");
/// The name has the version, so that browsers may keep the file.
const RAPIDOC_NAME: &str = "rapidoc-9.3.8.js";
const RAPIDOC: &[u8] = include_bytes!("../vendor/rapidoc-9.3.8/rapidoc-min.js.gz");
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

static DOCS: LazyLock<String> = LazyLock::new(|| DOCUMENT.replace("{{script}}", &script()));

/// RapiDoc sets styles in its elements, which only `'unsafe-inline'` allows. It has no script in them.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "default-src 'none'; script-src 'self' {}; style-src 'unsafe-inline'; connect-src 'self'; \
         img-src 'self' data:; {}",
        hash_source(&script()),
        html::WITHOUT_OTHERS
    )
});

static RAPIDOC_SCRIPT: LazyLock<Bytes> = LazyLock::new(|| {
    let mut script = Vec::new();
    GzDecoder::new(RAPIDOC).read_to_end(&mut script).expect("a test decompresses the file");
    script.into()
});

fn script() -> String {
    SCRIPT.replace("{{rapidoc}}", RAPIDOC_NAME)
}

/// Answers with the documentation.
pub async fn docs() -> Response {
    html::response(&DOCS, &POLICY)
}

/// Answers with a file that the documentation is made of.
///
/// # Errors
/// Returns [`ApiError::NotFound`] if there is no such file.
pub async fn file(PathParams([name]): PathParams<1>, uri: Uri) -> Result<Response, ApiError> {
    if name != RAPIDOC_NAME {
        return Err(ApiError::no_endpoint(&uri));
    }
    let headers = [(CONTENT_TYPE, "text/javascript; charset=utf-8"), (CACHE_CONTROL, IMMUTABLE)];
    Ok((headers, RAPIDOC_SCRIPT.clone()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_program_is_the_one_that_its_name_says() {
        let script = str::from_utf8(&RAPIDOC_SCRIPT).unwrap();
        assert!(script.starts_with("/*! RapiDoc 9.3.8 |"));
        assert_eq!(script.len(), 863_099);
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        assert!(!DOCS.contains("{{"));
        assert_eq!(DOCS.matches("</script").count(), 1);
    }
}
