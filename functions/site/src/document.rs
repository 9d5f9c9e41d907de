//! Pages for browsers: one document each, put together of readable files when it is first asked for.

use std::io::Read;

use axum::{
    body::Bytes,
    http::{
        HeaderMap, HeaderValue,
        header::{CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY},
    },
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::{Compression, read::GzEncoder};
use sha2::{Digest, Sha256};
use shared::http::accepts_gzip;

/// A page with its own style and script in it, which are all that it may use.
pub struct Document {
    html: String,
    compressed: Bytes,
    script_source: String,
    style_source: String,
}

impl Document {
    /// Fills the parts of the style and of the script into a template. The parts of a script share one scope.
    pub fn assemble(template: &str, styles: &[&str], scripts: &[&str]) -> Self {
        let (style, script) = (styles.join("\n"), scripts.join("\n"));
        let html = template
            .replace("{{version}}", env!("CARGO_PKG_VERSION"))
            .replace("{{style}}", &style)
            .replace("{{script}}", &script);
        let (script_source, style_source) = (hash_source(&script), hash_source(&style));
        Self { compressed: compress(&html), html, script_source, style_source }
    }

    /// The page, with a content security policy that allows images of these hosts, too. Its address is
    /// told to nobody.
    pub fn response(&'static self, request: &HeaderMap, image_hosts: &str) -> Response {
        let headers = [
            (CONTENT_TYPE, "text/html; charset=utf-8"),
            (CONTENT_SECURITY_POLICY, &self.policy(image_hosts)),
            (REFERRER_POLICY, "no-referrer"),
        ];
        if accepts_gzip(request) {
            let encoding = [(CONTENT_ENCODING, HeaderValue::from_static("gzip"))];
            return (headers, encoding, self.compressed.clone()).into_response();
        }
        (headers, self.html.as_str()).into_response()
    }

    /// A policy that allows this script, this style, requests to this service, and images of this service
    /// and of these hosts, and nothing else. Trusted types forbid the script to make elements of text. No
    /// other page shows this one in a frame, nothing changes where its links lead, and no form is sent
    /// anywhere.
    pub fn policy(&self, image_hosts: &str) -> String {
        let Self { script_source, style_source, .. } = self;
        format!(
            "default-src 'none'; script-src {script_source}; style-src {style_source}; \
             connect-src 'self'; img-src 'self' data:{image_hosts}; \
             require-trusted-types-for 'script'; trusted-types 'none'; \
             frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
        )
    }

    #[cfg(test)]
    pub fn assert_whole(&self) {
        let html = &self.html;
        assert!(!html.contains("{{"), "a place is not filled in");
        assert_eq!(html.matches("<script").count(), 1);
        assert_eq!(html.matches("</script").count(), 1);
        assert_eq!(html.matches("</style").count(), 1);
        for loading in [" src=", "url(", "@import", "import(", "innerHTML", " style="] {
            assert!(!html.contains(loading), "{loading}");
        }
    }
}

/// The source that allows one inline script or style in a content security policy: its hash.
fn hash_source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}

/// Compresses a page as far as gzip can, which the level of other responses does not.
fn compress(html: &str) -> Bytes {
    let mut compressed = Vec::new();
    let mut encoder = GzEncoder::new(html.as_bytes(), Compression::best());
    encoder.read_to_end(&mut compressed).expect("reading from memory does not fail");
    compressed.into()
}
