//! The program's log.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::{Layer, fmt, layer::SubscriberExt, util::SubscriberInitExt};

/// Logs warnings and errors to stderr as text. `RUST_LOG` overrides the level.
pub fn init_human_logs() {
    logging::hide_panic_messages();
    let is_terminal = stderr().is_terminal();
    let lines = fmt::layer().with_writer(stderr).with_ansi(is_terminal);
    let filter = logging::filter("warn");
    _ = tracing_subscriber::registry().with(lines.with_filter(filter)).try_init();
}
