//! Filters log lines, and keeps phone numbers and keys out of them.
//!
//! At levels `debug` and `trace`, other crates log addresses, headers and whole requests, including phone
//! numbers and keys. So a level without a crate name applies to this service only. Other crates log at most
//! warnings, unless they are named.

use std::{env, panic};

use tracing_subscriber::{
    Layer,
    filter::{LevelFilter, ParseError, Targets},
    fmt,
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

/// This service's crates.
const OWN_CRATES: &str = "carriers features flags format formatting ingest logging mcp npa number_lists \
                          numbering probe search shared signed_requests site status store test_api tnr";

/// The environment variable with the filter.
const VARIABLE: &str = "RUST_LOG";

/// Crates that log only errors, unless they are named. Warnings from `rmcp` quote client input. Those from the
/// embedded database repeat expected refusals, such as that a table exists.
const ERRORS_ONLY: [&str; 2] = ["rmcp", "dynoxide"];

/// The filter set by `RUST_LOG`, or `default` if it is missing or invalid.
pub fn filter(default: &str) -> Targets {
    let requested = env::var(VARIABLE).unwrap_or_default();
    let requested = if requested.trim().is_empty() { default } else { &requested };
    parsed(requested).or_else(|error| {
        eprintln!(
            "{VARIABLE} must be a level or a filter, got '{requested}' ({error}); using '{default}'"
        );
        parsed(default)
    })
    .unwrap_or_default()
}

fn parsed(text: &str) -> Result<Targets, ParseError> {
    directives(text).parse()
}

/// The directives in `text`. A level without a crate name applies to this service's crates. It caps all others
/// at warnings, or errors for [`ERRORS_ONLY`].
fn directives(text: &str) -> String {
    let mut directives = Vec::new();
    for directive in text.split(',').map(str::trim) {
        match directive.parse::<LevelFilter>() {
            Ok(level) => {
                directives.push(level.min(LevelFilter::WARN).to_string());
                directives.extend(OWN_CRATES.split(' ').map(|own| format!("{own}={level}")));
                let capped = level.min(LevelFilter::ERROR);
                directives.extend(ERRORS_ONLY.map(|other| format!("{other}={capped}")));
            }
            Err(_) => directives.push(directive.to_owned()),
        }
    }
    directives.join(",")
}

/// Logs JSON lines to stdout, which Lambda forwards to CloudWatch. `RUST_LOG` sets the level.
pub fn log_as_json() {
    hide_panic_messages();
    let lines = fmt::layer().json().with_current_span(false).without_time();
    tracing_subscriber::registry().with(lines.with_filter(filter("info"))).init();
}

/// Makes panics log their location but not their message, which may quote a client's request.
pub fn hide_panic_messages() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "a panic; its message is left out, since it may quote a request");
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_applies_to_this_service_and_caps_others() {
        for (level, of_others, of_errors_only) in
            [("trace", "warn", "error"), ("error", "error", "error"), ("off", "off", "off")]
        {
            let set = directives(level);
            assert!(set.starts_with(&format!("{of_others},carriers={level},")), "{set}");
            let last = format!(",rmcp={of_errors_only},dynoxide={of_errors_only}");
            assert!(set.ends_with(&last), "{set}");
        }
    }

    #[test]
    fn named_crates_keep_their_level() {
        assert_eq!(directives("hyper=trace"), "hyper=trace");
        assert!(directives("INFO, hyper=debug").ends_with(",hyper=debug"));
        assert!(parsed("info, hyper=debug").is_ok());
    }

    #[test]
    fn the_filter_includes_every_workspace_crate() {
        let manifest = include_str!("../../../Cargo.toml");
        let with_path = manifest.lines().filter_map(|line| line.split_once(" = { path = "));
        let mut crates: Vec<_> = with_path.map(|(name, _)| name).chain(["tnr"]).collect();
        crates.sort();
        assert_eq!(OWN_CRATES, crates.join(" "));
    }
}
