//! Client preferences from `Accept`, `Accept-Encoding` and `Accept-Language` (RFC 9110, 12.5).

use axum::http::{
    HeaderMap, HeaderName,
    header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE},
};

use crate::errors::PROBLEM_MEDIA_TYPE;

/// JSON and the media ranges that match it, most specific first.
const JSON: [&str; 3] = ["application/json", "application/*", "*/*"];

/// A header's values, each with a quality from 0 to 1.
struct QualityList(Vec<(String, f32)>);

impl QualityList {
    /// Parses a header. Ignores values with an invalid quality.
    fn from_headers(headers: &HeaderMap, name: HeaderName) -> Self {
        let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
        Self(lines.flat_map(|line| line.split(',')).filter_map(value_and_quality).collect())
    }

    /// The quality of the first of `ranges` in the list. Order them from specific to general.
    fn quality(&self, ranges: &[&str]) -> Option<f32> {
        let listed = |range: &&str| self.0.iter().find(|(value, _)| value == range);
        ranges.iter().find_map(listed).map(|(_, quality)| *quality)
    }

    fn accepts(&self, ranges: &[&str]) -> bool {
        self.quality(ranges).is_some_and(|quality| quality > 0.0)
    }
}

/// Returns `true` if the client accepts JSON, or sends no `Accept`.
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

/// Returns `true` if the client accepts gzip, and does not prefer an uncompressed response.
pub fn prefers_gzip(headers: &HeaderMap) -> bool {
    let listed = QualityList::from_headers(headers, ACCEPT_ENCODING);
    listed.accepts(&["gzip", "*"])
        && listed.quality(&["gzip", "*"]) >= listed.quality(&["identity"])
}

/// The media type in `offered` that `Accept` prefers. On a tie, a type that the client named wins, then the first one.
/// Returns the first if none is acceptable, because any response is better than an error.
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
    use crate::case_table::rows;

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    /// The names of the flags that are set.
    fn names<const N: usize>(flags: [(&str, bool); N]) -> String {
        let set: Vec<&str> =
            flags.iter().filter(|(_, is_set)| *is_set).map(|(it, _)| *it).collect();
        set.join(", ")
    }

    #[test]
    fn valid_values_from_all_header_lines_have_a_quality() {
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
    fn media_types_are_accepted_and_preferred_as_listed() {
        for [accept, expected, media_type] in rows(include_str!("accept.txt")) {
            let headers = headers(ACCEPT, &accept);
            let found = names([
                ("JSON", accepts_json(&headers)),
                ("HTML", prefers_html(&headers)),
                ("problems", prefers_problems(&headers)),
            ]);
            assert_eq!(found, expected, "{accept}");
            let preferred = preferred_media_type(&headers, ["application/json", "text/csv"]);
            assert_eq!(preferred, media_type, "{accept}");
        }
        assert!(accepts_json(&HeaderMap::new()));
    }

    #[test]
    fn gzip_is_used_unless_identity_is_preferred() {
        for [encodings, expected] in rows(include_str!("accept_encoding.txt")) {
            let is_preferred = prefers_gzip(&headers(ACCEPT_ENCODING, &encodings));
            assert_eq!(is_preferred, expected == "yes", "{encodings}");
        }
    }
}
