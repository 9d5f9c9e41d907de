//! What a client prefers, as `Accept` and `Accept-Encoding` list it (RFC 9110, 12.5).

use axum::http::{
    HeaderMap, HeaderName,
    header::{ACCEPT, ACCEPT_ENCODING},
};

/// The values that a header lists, each with its quality from 0 to 1. A value whose quality cannot
/// be read is left out.
pub fn listed(headers: &HeaderMap, name: HeaderName) -> Vec<(String, f32)> {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).filter_map(value_and_quality).collect()
}

/// The quality of the first of `ranges` that is listed, the most specific one being named first.
pub fn quality(listed: &[(String, f32)], ranges: &[&str]) -> Option<f32> {
    let quality_of = |range: &&str| listed.iter().find(|(value, _)| value == range);
    ranges.iter().find_map(quality_of).map(|(_, quality)| *quality)
}

/// Whether a client takes JSON, as each does that does not say what it takes.
pub fn accepts_json(headers: &HeaderMap) -> bool {
    let accepted = listed(headers, ACCEPT);
    let of_json = quality(&accepted, &["application/json", "application/*", "*/*"]);
    !headers.contains_key(ACCEPT) || of_json.is_some_and(|quality| quality > 0.0)
}

/// Whether `Accept` lists HTML by name and does not prefer JSON. Browsers do so when they open a page.
pub fn prefers_html(headers: &HeaderMap) -> bool {
    let accepted = listed(headers, ACCEPT);
    let of_json = quality(&accepted, &["application/json", "application/*", "*/*"]);
    quality(&accepted, &["text/html"])
        .is_some_and(|of_html| of_html > 0.0 && of_html >= of_json.unwrap_or_default())
}

/// Returns true if a response may be compressed with gzip.
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = listed(headers, ACCEPT_ENCODING);
    quality(&accepted, &["gzip", "*"]).is_some_and(|of_gzip| of_gzip > 0.0)
}

/// The one of the `offered` media types that `Accept` prefers. Of two with the same quality it is the one
/// that is listed by its own name, and else the first. If none is acceptable, it is the first too: any
/// response helps the client more than none.
pub fn preferred_media_type<const N: usize>(
    headers: &HeaderMap,
    offered: [&'static str; N],
) -> &'static str {
    let accepted = listed(headers, ACCEPT);
    let preference = |media_type: &'static str| {
        let (main_type, _) = media_type.split_once('/').unwrap_or_default();
        let range = format!("{main_type}/*");
        let of_type = quality(&accepted, &[media_type, &range, "*/*"]).unwrap_or_default();
        let is_named = quality(&accepted, &[media_type]).is_some();
        (of_type, is_named && of_type > 0.0)
    };
    let better = |best: &'static str, other| {
        if preference(other) > preference(best) { other } else { best }
    };
    offered.into_iter().reduce(better).unwrap_or_default()
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

    fn accept(lines: &[&'static str]) -> Vec<(String, f32)> {
        let headers = lines.iter().map(|line| (ACCEPT, HeaderValue::from_static(line)));
        listed(&headers.collect(), ACCEPT)
    }

    #[test]
    fn values_of_all_lines_are_listed_with_their_quality() {
        let listed = accept(&["Text/HTML;level=1;q=0.5, */*;Q=0", "application/json ; q=1"]);
        let expected = [("text/html", 0.5), ("*/*", 0.0), ("application/json", 1.0)];
        assert_eq!(listed, expected.map(|(value, quality)| (value.to_owned(), quality)));
    }

    #[test]
    fn the_preferred_media_type_has_the_best_quality_then_a_name_then_comes_first() {
        let preferred = |accept: &'static str| {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            preferred_media_type(&headers, ["application/json", "text/csv"])
        };
        for accept in
            ["text/csv", "text/*", "text/csv, */*", "application/json;q=0.5, text/csv;q=0.6"]
        {
            assert_eq!(preferred(accept), "text/csv", "{accept}");
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
            assert_eq!(preferred(accept), "application/json", "{accept}");
        }
    }

    #[test]
    fn a_quality_that_is_no_number_from_0_to_1_leaves_its_value_out() {
        assert_eq!(accept(&["a/b;q=2, a/b;q=-1, a/b;q=x, a/b;q=NaN, ,"]), []);
    }

    #[test]
    fn json_is_taken_unless_it_is_excluded() {
        let accepts = |accept: &'static str| {
            accepts_json(&HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]))
        };
        assert!(accepts_json(&HeaderMap::new()));
        for accept in ["*/*", "application/json, text/event-stream", "text/html, */*;q=0.1"] {
            assert!(accepts(accept), "{accept}");
        }
        for accept in ["", "text/event-stream", "application/json;q=0, */*"] {
            assert!(!accepts(accept), "{accept}");
        }
    }

    #[test]
    fn html_is_preferred_by_browsers_and_not_by_programs() {
        let prefers = |accept: &'static str| {
            prefers_html(&HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]))
        };
        let of_browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        for accept in [of_browser, "text/html", "application/json, text/html"] {
            assert!(prefers(accept), "{accept}");
        }
        for accept in
            ["", "*/*", "text/*", "application/json", "text/html;q=0.5, */*", "text/html;q=0"]
        {
            assert!(!prefers(accept), "{accept}");
        }
        assert!(!prefers_html(&HeaderMap::new()));
    }

    #[test]
    fn the_most_specific_range_decides() {
        let listed = accept(&["*/*;q=0.1, application/json;q=0.3"]);
        assert_eq!(quality(&listed, &["application/json", "*/*"]), Some(0.3));
        assert_eq!(quality(&listed, &["text/html", "text/*", "*/*"]), Some(0.1));
        assert_eq!(quality(&listed, &["text/html"]), None);
    }
}
