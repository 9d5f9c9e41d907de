//! Which lines are logged, and what must never be in one.
//!
//! Other crates tell at `debug` and `trace` what passes through them: addresses, headers and whole
//! requests, and with them phone numbers and keys. So a level set for everything sets it for this
//! service alone, and other crates keep to warnings unless one of them is named.

use std::{env, panic};

use tracing_subscriber::{EnvFilter, filter::LevelFilter};

/// The crates of this service.
const OWN_CRATES: [&str; 12] = [
    "carriers",
    "format",
    "formatting",
    "ingest",
    "logging",
    "npa",
    "numbering",
    "search",
    "shared",
    "status",
    "store",
    "tnr",
];

/// The filter that `RUST_LOG` asks for, or `default` if it is not set or makes no sense.
pub fn filter(default: &str) -> EnvFilter {
    let asked_for = env::var(EnvFilter::DEFAULT_ENV).ok().filter(|text| !text.trim().is_empty());
    let asked_for = asked_for.and_then(|text| EnvFilter::builder().parse(directives(&text)).ok());
    asked_for.unwrap_or_else(|| EnvFilter::new(directives(default)))
}

/// The directives, where a level alone is made one for this service's crates.
fn directives(text: &str) -> String {
    let mut directives = Vec::new();
    for directive in text.split(',').map(str::trim) {
        match directive.parse::<LevelFilter>() {
            Ok(level) => {
                directives.push(level.min(LevelFilter::WARN).to_string());
                directives.extend(OWN_CRATES.map(|own| format!("{own}={level}")));
            }
            Err(_) => directives.push(directive.to_owned()),
        }
    }
    directives.join(",")
}

/// Logs structured lines to stdout, which Lambda hands to CloudWatch; `RUST_LOG` sets the level.
pub fn log_as_json() {
    hide_panic_messages();
    tracing_subscriber::fmt()
        .json()
        .with_env_filter(filter("info"))
        .with_current_span(false)
        .without_time()
        .init();
}

/// Logs where a panic was and not its message, which may quote what a client sent.
pub fn hide_panic_messages() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "a panic, whose message is left out");
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_for_this_service_and_caps_others_at_warnings() {
        let at = |level: &str| directives(level);
        assert!(at("trace").starts_with("warn,carriers=trace,"), "{}", at("trace"));
        assert!(at("DEBUG").contains("shared=debug"));
        assert!(at("error").starts_with("error,carriers=error,"));
        assert!(at("off").starts_with("off,"));
    }

    #[test]
    fn a_crate_that_is_named_is_listened_to() {
        assert_eq!(directives("hyper=trace"), "hyper=trace");
        assert!(directives("info, hyper=debug").ends_with(",hyper=debug"));
        assert!(EnvFilter::builder().parse(directives("info, hyper=debug")).is_ok());
    }

    #[test]
    fn every_crate_of_the_workspace_is_known() {
        let manifest = include_str!("../../../Cargo.toml");
        let crates = manifest.lines().filter_map(|line| {
            let (name, rest) = line.split_once(" = { path")?;
            (!rest.is_empty()).then_some(name)
        });
        let mut crates: Vec<_> = crates.chain(["tnr"]).collect();
        crates.sort_unstable();
        assert_eq!(crates, OWN_CRATES);
    }
}
