//! Which lines are logged, and how phone numbers and keys are kept out of them.
//!
//! At the levels `debug` and `trace`, other crates log the data that passes through them:
//! addresses, headers and whole requests, and with them phone numbers and keys. So a level without
//! the name of a crate is set for this service alone. Other crates log warnings at most, unless
//! they are named.

use std::{env, panic};

use tracing_subscriber::{
    Layer,
    filter::{LevelFilter, ParseError, Targets},
    fmt,
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

/// The manifest of the workspace, which names every crate of this service with its path.
const MANIFEST: &str = include_str!("../../../Cargo.toml");
/// The local program, which no other crate depends on.
const LOCAL_PROGRAM: &str = "tnr";

/// The crates of this service.
fn own_crates() -> impl Iterator<Item = &'static str> {
    let with_path = MANIFEST.lines().filter_map(|line| line.split_once(" = { path = "));
    with_path.map(|(name, _)| name).chain([LOCAL_PROGRAM])
}

/// The variable that holds the filter.
const VARIABLE: &str = "RUST_LOG";

/// Crates of which only errors are logged, unless they are named. The warnings of `rmcp` quote what clients write; those
/// of the embedded database repeat the refusals that its caller expects, such as that of a table that exists.
const ERRORS_ONLY: [&str; 2] = ["rmcp", "dynoxide"];

/// The filter that `RUST_LOG` asks for, or `default` if it is not set or cannot be parsed.
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

/// The directives in `text`. A level without the name of a crate becomes the level of the crates of
/// this service, and at most a warning for all others, or an error for [`ERRORS_ONLY`].
fn directives(text: &str) -> String {
    let mut directives = Vec::new();
    for directive in text.split(',').map(str::trim) {
        match directive.parse::<LevelFilter>() {
            Ok(level) => {
                directives.push(level.min(LevelFilter::WARN).to_string());
                directives.extend(own_crates().map(|own| format!("{own}={level}")));
                let capped = level.min(LevelFilter::ERROR);
                directives.extend(ERRORS_ONLY.map(|other| format!("{other}={capped}")));
            }
            Err(_) => directives.push(directive.to_owned()),
        }
    }
    directives.join(",")
}

/// Logs JSON lines to stdout, which Lambda passes on to CloudWatch. `RUST_LOG` sets the level.
pub fn log_as_json() {
    hide_panic_messages();
    let lines = fmt::layer().json().with_current_span(false).without_time();
    tracing_subscriber::registry().with(lines.with_filter(filter("info"))).init();
}

/// Makes a panic log its place but not its message, which may quote a client's request.
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
    fn a_level_is_set_for_this_service_and_caps_others_at_warnings() {
        let trace = directives("trace");
        assert!(trace.starts_with("warn,shared=trace,"), "{trace}");
        assert!(directives("DEBUG").contains("shared=debug"));
        assert!(directives("error").starts_with("error,shared=error,"));
        assert!(directives("off").starts_with("off,"));
    }

    #[test]
    fn a_crate_that_is_named_keeps_its_own_level() {
        assert_eq!(directives("hyper=trace"), "hyper=trace");
        assert!(directives("info, hyper=debug").ends_with(",hyper=debug"));
        assert!(parsed("info, hyper=debug").is_ok());
    }

    #[test]
    fn warnings_that_quote_clients_or_expected_refusals_are_not_logged() {
        assert!(directives("trace").ends_with("rmcp=error,dynoxide=error"));
        assert!(directives("info,rmcp=debug").ends_with("dynoxide=error,rmcp=debug"));
        assert!(directives("off").ends_with("rmcp=off,dynoxide=off"));
    }

    #[test]
    fn the_filter_knows_every_crate_of_the_workspace() {
        let crates: Vec<_> = own_crates().collect();
        for name in ["carriers", "formatting", "ingest", "logging", "shared", "store", "tnr"] {
            assert!(crates.contains(&name), "{name} is not in {crates:?}");
        }
    }
}
