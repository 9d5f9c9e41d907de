//! Client preferences from `Accept`, `Accept-Encoding` and `Accept-Language` (RFC 9110, 12.5).

use axum::http::{
    HeaderMap, HeaderName,
    header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE},
};

use crate::errors::PROBLEM_MEDIA_TYPE;

/// JSON and the media ranges that include it, most specific first.
const JSON: [&str; 3] = ["application/json", "application/*", "*/*"];

/// The values in a header with their quality from 0 to 1.
struct QualityList(Vec<(String, f32)>);

impl QualityList {
    /// Parses a header, and ignores values with an invalid quality.
    fn from_headers(headers: &HeaderMap, name: HeaderName) -> Self {
        let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
        Self(lines.flat_map(|line| line.split(',')).filter_map(value_and_quality).collect())
    }

    /// The quality of the first of `ranges` that is listed. They must be ordered from specific to general.
    fn quality(&self, ranges: &[&str]) -> Option<f32> {
        let listed = |range: &&str| self.0.iter().find(|(value, _)| value == range);
        ranges.iter().find_map(listed).map(|(_, quality)| *quality)
    }

    fn accepts(&self, ranges: &[&str]) -> bool {
        self.quality(ranges).is_some_and(|quality| quality > 0.0)
    }
}

/// Returns `true` if the client accepts JSON, as it does without `Accept`.
pub fn accepts_json(headers: &HeaderMap) -> bool {
    !headers.contains_key(ACCEPT) || QualityList::from_headers(headers, ACCEPT).accepts(&JSON)
}

/// Returns `true` if `Accept` lists HTML and does not prefer JSON, as when a browser opens a page.
pub fn prefers_html(headers: &HeaderMap) -> bool {
    is_preferred_to_json(headers, "text/html")
}

/// Returns `true` if `Accept` lists problem details and does not prefer plain JSON.
pub(crate) fn prefers_problems(headers: &HeaderMap) -> bool {
    is_preferred_to_json(headers, PROBLEM_MEDIA_TYPE)
}

fn is_preferred_to_json(headers: &HeaderMap, media_type: &str) -> bool {
    let listed = QualityList::from_headers(headers, ACCEPT);
    listed.accepts(&[media_type]) && listed.quality(&[media_type]) >= listed.quality(&JSON)
}

pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    QualityList::from_headers(headers, ACCEPT_ENCODING).accepts(&["gzip", "*"])
}

/// Returns `true` if the client accepts gzip, and does not prefer an uncompressed response.
pub(crate) fn prefers_gzip(headers: &HeaderMap) -> bool {
    let listed = QualityList::from_headers(headers, ACCEPT_ENCODING);
    listed.accepts(&["gzip", "*"])
        && listed.quality(&["gzip", "*"]) >= listed.quality(&["identity"])
}

/// The media type among `offered` that `Accept` prefers. If two have the same quality, the one listed by name wins,
/// and otherwise the first. Returns the first if none is acceptable, since any response is better than an error.
pub fn preferred_media_type<const N: usize>(
    headers: &HeaderMap,
    offered: [&'static str; N],
) -> &'static str {
    let listed = QualityList::from_headers(headers, ACCEPT);
    let preference = |media_type: &'static str| {
        let (main_type, _) = media_type.split_once('/').unwrap_or_default();
        let range = format!("{main_type}/*");
        let quality = listed.quality(&[media_type, &range, "*/*"]).unwrap_or_default();
        (quality, listed.accepts(&[media_type]))
    };
    let prefer = |best: &'static str, other| {
        if preference(other) > preference(best) { other } else { best }
    };
    offered.into_iter().reduce(prefer).unwrap_or_default()
}

/// The language tags that the client accepts, in lowercase, most preferred first.
pub fn preferred_languages(headers: &HeaderMap) -> Vec<String> {
    let QualityList(mut listed) = QualityList::from_headers(headers, ACCEPT_LANGUAGE);
    listed.retain(|(_, quality)| *quality > 0.0);
    listed.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    listed.into_iter().map(|(tag, _)| tag).collect()
}

fn value_and_quality(listed: &str) -> Option<(String, f32)> {
    let mut parts = listed.split(';').map(|part| part.trim().to_ascii_lowercase());
    let value = parts.next().filter(|value| !value.is_empty())?;
    let quality = match parts.find_map(|part| part.strip_prefix("q=").map(str::to_owned)) {
        Some(text) => text.parse().ok().filter(|quality| (0.0..=1.0).contains(quality))?,
        None => 1.0,
    };
    Some((value, quality))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn valid_values_of_all_lines_are_listed_with_their_quality() {
        let mut headers = headers(ACCEPT, "Text/HTML;level=1;q=0.5, */*;Q=0");
        headers
            .append(ACCEPT, HeaderValue::from_static("a/b ; q=1, c/d;q=2, c/d;q=x, c/d;q=NaN, ,"));
        let expected = [("text/html", 0.5), ("*/*", 0.0), ("a/b", 1.0)];
        let expected = expected.map(|(value, quality)| (value.to_owned(), quality));
        assert_eq!(QualityList::from_headers(&headers, ACCEPT).0, expected);
    }

    #[test]
    fn languages_are_preferred_by_quality_then_order() {
        let headers = headers(ACCEPT_LANGUAGE, "fr;q=0.5, de-CH, en;q=0, it;q=0.5, *;q=0.1");
        assert_eq!(preferred_languages(&headers), ["de-ch", "fr", "it", "*"]);
    }

    #[test]
    fn media_types_are_preferred_by_quality_then_name_then_order() {
        for accept in [
            "text/csv",
            "text/*",
            "text/csv, */*",
            "application/json;q=0.5, text/csv;q=0.6",
            "*/*;q=0.6, application/json;q=0.5",
        ] {
            let headers = headers(ACCEPT, accept);
            assert_eq!(
                preferred_media_type(&headers, ["application/json", "text/csv"]),
                "text/csv"
            );
        }
        for accept in [
            "",
            "*/*",
            "text/csv, application/json",
            "text/html, */*;q=0.8",
            "text/csv;q=0",
            "text/csv;q=0.5, */*",
            "image/png",
        ] {
            let preferred =
                preferred_media_type(&headers(ACCEPT, accept), ["application/json", "text/csv"]);
            assert_eq!(preferred, "application/json", "{accept}");
        }
    }

    #[test]
    fn html_and_problem_details_are_preferred_only_if_listed() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        for (accept, json, html, problems) in [
            (browser, true, true, false),
            ("text/html", false, true, false),
            ("application/json, text/html, Application/Problem+JSON", true, true, true),
            ("application/problem+json;q=0.5, application/json;q=0.5", true, false, true),
            ("application/problem+json, */*;q=0.1", true, false, true),
            ("", false, false, false),
            ("*/*", true, false, false),
            ("text/event-stream, application/problem+xml", false, false, false),
            ("application/json;q=0, */*", false, false, false),
            ("text/html;q=0, application/problem+json;q=0", false, false, false),
            ("text/html;q=0.9, application/problem+json;q=0.9, */*", true, false, false),
        ] {
            let headers = headers(ACCEPT, accept);
            let found =
                (accepts_json(&headers), prefers_html(&headers), prefers_problems(&headers));
            assert_eq!(found, (json, html, problems), "{accept}");
        }
        assert!(accepts_json(&HeaderMap::new()));
    }

    #[test]
    fn gzip_is_preferred_if_accepted_and_not_below_identity() {
        for accepted in [
            "gzip, deflate, br, zstd",
            "GZIP;q=0.5",
            "br;q=0, *",
            "identity;q=0, gzip",
            "identity, gzip",
        ] {
            assert!(prefers_gzip(&headers(ACCEPT_ENCODING, accepted)), "{accepted}");
        }
        for accepted in ["identity, gzip;q=0.5", "br, deflate, zstd", "gzip;q=0, *", "*;q=0", ""] {
            assert!(!prefers_gzip(&headers(ACCEPT_ENCODING, accepted)), "{accepted}");
        }
    }
}
