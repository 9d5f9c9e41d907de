//! Log filters, which keep phone numbers and keys out of the logs.
//!
//! At levels `debug` and `trace`, dependencies log URLs, headers and whole requests, including phone numbers and
//! keys. So a level without a crate name applies only to this service's crates. Dependencies log only warnings and
//! errors unless the filter names them.

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
                          numbering otlp probe search shared signed_requests site status store test_api tnr";

const VARIABLE: &str = "RUST_LOG";

/// Crates that log only errors unless the filter names them. `rmcp` quotes client input in warnings, and the
/// embedded database warns about expected errors, such as an existing table.
const ERRORS_ONLY: [&str; 2] = ["rmcp", "dynoxide"];

/// The filter in `RUST_LOG`, or `default` if it is missing or invalid.
pub fn filter(default: &str) -> Targets {
    let requested = env::var(VARIABLE).unwrap_or_default();
    let requested = if requested.trim().is_empty() { default } else { &requested };
    parse_filter(requested).or_else(|error| {
        eprintln!(
            "{VARIABLE} must be a level or a filter, got '{requested}' ({error}); using '{default}'"
        );
        parse_filter(default)
    })
    .unwrap_or_default()
}

fn parse_filter(text: &str) -> Result<Targets, ParseError> {
    directives(text).parse()
}

/// Expands each level without a crate name into directives for this service's crates. Other crates are capped at
/// warnings, and [`ERRORS_ONLY`] at errors.
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

/// Starts logging JSON lines to stdout, which Lambda forwards to CloudWatch. `RUST_LOG` sets the filter.
pub fn init_json_logs() {
    hide_panic_messages();
    let lines = fmt::layer().json().with_current_span(false).without_time();
    tracing_subscriber::registry().with(lines.with_filter(filter("info"))).init();
}

/// Makes panics log their location, but not their message, which may quote a request.
pub fn hide_panic_messages() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panicked; the message is omitted, since it may quote a request");
    }));
}

#[cfg(test)]
mod tests {
    use std::{io, sync::Arc};

    use super::*;

    #[test]
    fn a_level_applies_to_this_service_and_dependencies_are_capped() {
        for (level, others_level, errors_only_level) in
            [("trace", "warn", "error"), ("error", "error", "error"), ("off", "off", "off")]
        {
            let set = directives(level);
            assert!(set.starts_with(&format!("{others_level},carriers={level},")), "{set}");
            let last = format!(",rmcp={errors_only_level},dynoxide={errors_only_level}");
            assert!(set.ends_with(&last), "{set}");
        }
    }

    #[test]
    fn panics_are_logged_without_their_message() {
        let (reader, writer) = io::pipe().unwrap();
        tracing::subscriber::with_default(fmt().with_writer(Arc::new(writer)).finish(), || {
            hide_panic_messages();
            assert!(panic::catch_unwind(|| panic!("3052345678")).is_err());
            drop(panic::take_hook());
        });
        let log = io::read_to_string(reader).unwrap();
        assert!(log.contains(file!()) && !log.contains("3052345678"), "{log}");
    }

    #[test]
    fn directives_with_a_crate_name_are_unchanged() {
        assert_eq!(directives("hyper=trace"), "hyper=trace");
        assert!(directives("INFO, hyper=debug").ends_with(",hyper=debug"));
        assert!(parse_filter("info, hyper=debug").is_ok());
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
