//! Single-file HTML pages, assembled from source files on first request.

use std::io::Read;

use axum::{
    body::Bytes,
    http::{
        HeaderMap,
        header::{CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY},
    },
    response::{IntoResponse, Response},
};
use flate2::{Compression, read::GzEncoder};
use shared::http::{inline_source, prefers_gzip};

pub struct Document {
    html: String,
    /// At the highest level, since this happens only once. It saves a sixth of what each visitor loads.
    compressed: Bytes,
    script_sources: String,
    style_source: String,
}

/// The scripts with these names in a folder of the assets.
macro_rules! scripts {
    ($folder:literal: $($name:literal)*) => {
        &[$(include_str!(concat!("../assets/", $folder, "/", $name, ".js"))),*]
    };
}
pub(crate) use scripts;

const KEY_FORM: &str = include_str!("../assets/shared/key_form.html");
const SHARED_STYLE: &str = include_str!("../assets/shared/base.css");
/// Runs before the first paint.
const THEME_SCRIPT: &str = include_str!("../assets/shared/apply_theme.js");
const SHARED_SCRIPTS: &[&str] = scripts! { "shared":
    "elements" "theme" "requests" "field_errors" "storage" "key" "json" "snippets"
};

/// Removes lines that only have a comment, which are a tenth of what each visitor loads.
pub fn without_comments(source: &str) -> String {
    let mut is_inside = false;
    let is_code = |line: &&str| {
        let line = line.trim();
        let starts = line.starts_with("/*");
        let is_comment = is_inside || starts || line.starts_with("//");
        is_inside = (is_inside || starts) && !line.ends_with("*/");
        !is_comment
    };
    source.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

impl Document {
    /// Fills a template with the shared style and script, followed by the page's own. Script parts share one scope.
    pub fn assemble(template: &str, style: &str, scripts: &[&str]) -> Self {
        let style = without_comments(&[SHARED_STYLE, style].join("\n"));
        let script = without_comments(&[SHARED_SCRIPTS, scripts].concat().join("\n"));
        let html = template
            .replace("{{version}}", env!("CARGO_PKG_VERSION"))
            .replace("{{theme}}", THEME_SCRIPT)
            .replace("{{key_form}}", KEY_FORM)
            .replace("{{style}}", &style)
            .replace("{{script}}", &script);
        let mut compressed = Vec::new();
        let mut encoder = GzEncoder::new(html.as_bytes(), Compression::best());
        encoder.read_to_end(&mut compressed).expect("reading from memory does not fail");
        Self {
            html,
            compressed: compressed.into(),
            script_sources: format!("{} {}", inline_source(THEME_SCRIPT), inline_source(&script)),
            style_source: inline_source(&style),
        }
    }

    /// Also allows scripts that the service serves on their own. A hash does not allow an import.
    pub fn with_imports(mut self) -> Self {
        self.script_sources += " 'self'";
        self
    }

    /// The response with the page and a content security policy that also allows images from these hosts.
    pub fn response(&'static self, request: &HeaderMap, image_hosts: &str) -> Response {
        let headers = [
            (CONTENT_TYPE, "text/html; charset=utf-8"),
            (CONTENT_SECURITY_POLICY, &self.policy(image_hosts)),
            (REFERRER_POLICY, "no-referrer"),
        ];
        if prefers_gzip(request) {
            let encoding = [(CONTENT_ENCODING, "gzip")];
            return (headers, encoding, self.compressed.clone()).into_response();
        }
        (headers, self.html.as_str()).into_response()
    }

    /// Allows only these scripts, this style, requests to this service, and images from this service and these hosts.
    /// Trusted types keep the script from building elements from text. No other page can frame this one, change its
    /// base URL, or receive its forms.
    pub fn policy(&self, image_hosts: &str) -> String {
        let Self { script_sources, style_source, .. } = self;
        format!(
            "default-src 'none'; script-src {script_sources}; style-src {style_source}; \
             connect-src 'self'; img-src 'self' data:{image_hosts}; \
             require-trusted-types-for 'script'; trusted-types 'none'; \
             frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
        )
    }

    #[cfg(test)]
    pub fn assert_complete(&self) {
        let html = &self.html;
        assert!(!html.contains("{{"), "a placeholder is not filled");
        assert!(!html.contains("\n/*"), "it has comments");
        assert_eq!(html.matches("<script").count(), 2);
        assert_eq!(html.matches("</script").count(), 2);
        assert_eq!(html.matches("</style").count(), 1);
        for forbidden in [" src=", "url(", "@import", "innerHTML", " style="] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
        let imports = html.matches("import(").count();
        assert_eq!(imports, html.matches("import(absolute(LIST_SCRIPT))").count());
    }
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn only_lines_without_code_are_removed_as_comments() {
        let source = "// a\nb // c\n/** d */\n* { e }\n/*\n * f\n g\n */\nh";
        assert_eq!(without_comments(source), "b // c\n* { e }\nh");
    }
}
