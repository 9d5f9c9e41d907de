//! The lookup page at `/` and the documentation at `/docs`. At `/`, clients other than browsers get an index.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::LazyLock,
};

use axum::{
    extract::State,
    http::{HeaderMap, Uri, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use shared::{config::FlagImages, http::prefers_html, state::App};

use crate::document::{Document, scripts, without_comments};

static PAGE: LazyLock<Document> = LazyLock::new(|| {
    let style = include_str!("../assets/page/page.css");
    let html = include_str!("../assets/page/page.html");
    let mut hasher = DefaultHasher::new();
    LIST_SCRIPT.hash(&mut hasher);
    let version = format!("{:08x}", hasher.finish() as u32);
    let scripts = PAGE_SCRIPTS.join("\n").replace("{{list_script}}", &version);
    Document::assemble(html, style, &[&scripts]).with_imports()
});
/// The list view's script, which the page loads on demand.
pub static LIST_SCRIPT: LazyLock<String> =
    LazyLock::new(|| without_comments(&LIST_SCRIPTS.join("\n")));
const LIST_SCRIPTS: &[&str] = scripts! { "page/script/list":
    "start" "text" "rows" "layout" "output" "lookups" "job" "settings" "progress" "view"
};
/// The parts of the page's script. The last one runs it.
const PAGE_SCRIPTS: &[&str] = scripts! { "page/script":
    "codes" "code_pane" "failures" "tables" "list_tools" "terms" "number_words" "number_view"
    "state_map" "plan_card" "area_code_view" "carriers_view" "countries_view" "search_view"
    "changes_view" "history_view" "sources_view" "list_view" "example" "recent_lookups"
    "shortcuts" "page"
};

static DOCS: LazyLock<Document> = LazyLock::new(|| {
    let style = include_str!("../assets/docs/docs.css");
    let html = include_str!("../assets/docs/docs.html");
    Document::assemble(html, style, DOCS_SCRIPTS)
});
const DOCS_SCRIPTS: &[&str] = scripts! { "docs/script":
    "schemas" "operations" "samples" "requests_to_try" "operation" "tasks" "filter" "docs"
};

const INDEX: &str = concat!(
    r#"{"name":"Telephone Number Reference Service","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#"","docs":"/docs","openapi":"/openapi.json","health":"/health"}"#,
);

/// The flag images' scheme and host, preceded by a space; empty if the service serves the images itself.
fn csp_image_source(flag_images: &FlagImages) -> String {
    let FlagImages(Some(base_url)) = flag_images else { return String::new() };
    let host = |uri: Uri| Some(format!(" {}://{}", uri.scheme()?, uri.authority()?));
    base_url.parse().ok().and_then(host).unwrap_or_default()
}

/// Serves the page to browsers, and an index to other clients.
pub async fn page(State(app): State<App>, headers: HeaderMap) -> Response {
    if prefers_html(&headers) {
        PAGE.response(&headers, &csp_image_source(&app.config.flag_images))
    } else {
        ([(CONTENT_TYPE, "application/json")], INDEX).into_response()
    }
}

pub async fn docs(headers: HeaderMap) -> Response {
    DOCS.response(&headers, "")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn every_page_is_one_document_with_all_placeholders_filled() {
        PAGE.assert_complete();
        DOCS.assert_complete();
    }

    #[test]
    fn images_are_allowed_only_from_the_service_and_the_configured_host() {
        for (setting, expected) in [
            ("", ""),
            ("https://cdn.example:8443/flags", " https://cdn.example:8443"),
            ("http://localhost:9000/flags", " http://localhost:9000"),
        ] {
            let policy = PAGE.policy(&csp_image_source(&setting.parse().unwrap()));
            assert!(policy.contains(&format!("; img-src 'self' data:{expected}; ")), "{policy}");
        }
    }

    const CODES: &str = include_str!("../assets/page/script/codes.js");

    fn documented_values(schema: &str) -> BTreeSet<String> {
        let description: Value =
            serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap();
        let values = description["components"]["schemas"][schema]["enum"].as_array().unwrap();
        values.iter().map(|value| value.as_str().unwrap().to_owned()).collect()
    }

    /// The uppercase words between a script constant's delimiters.
    fn codes_in(name: &str, closing: &str) -> BTreeSet<String> {
        let (_, after) = CODES.split_once(&format!("const {name} = ")).unwrap();
        let (list, _) = after[1..].split_once(closing).unwrap();
        let words = list.split(|character: char| !character.is_ascii_alphabetic());
        let is_code =
            |word: &&str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
        words.filter(is_code).map(str::to_owned).collect()
    }

    #[test]
    fn page_choices_and_state_names_match_the_api() {
        for (name, closing, schema) in [
            ("COUNTRIES", "`", "CountryCode"),
            ("STATES", "}", "StateCode"),
            ("CARRIER_TYPES", "]", "CarrierType"),
            ("STATUSES", "]", "Status"),
        ] {
            assert_eq!(codes_in(name, closing), documented_values(schema), "{name}");
        }
        for code in documented_values("StateCode") {
            let state: numbering::records::StateCode = code.parse().unwrap();
            assert!(CODES.contains(&format!("{code}: \"{}\"", state.name())), "{code}");
        }
    }
}
