//! Terminal output: wrapped and escaped text, colors where supported, and next commands for the same data.

pub mod escape;
pub mod progress;

use std::{
    env,
    io::{self, ErrorKind, IsTerminal},
};

use anstyle::{AnsiColor, Style};
use logging::with_causes;
use terminal_size::{Width, terminal_size_of};
use tracing_subscriber::{Layer, fmt, layer::SubscriberExt, util::SubscriberInitExt};

use self::escape::{data_output, escape_controls, escape_lines};
use crate::error::{CliError, Context};

/// The width for files, pipes and terminals of unknown width.
const DEFAULT_WIDTH: usize = 80;

pub const HEADING: Style = Style::new().bold();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const WARNING: Style = AnsiColor::Yellow.on_default();
pub const HINT: Style = Style::new().dimmed();

/// Logs warnings and errors to stderr as text. `RUST_LOG` overrides the level.
pub fn init_human_logs() {
    logging::hide_panic_messages();
    let is_terminal = io::stderr().is_terminal();
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(is_terminal);
    let filter = logging::filter("warn");
    _ = tracing_subscriber::registry().with(lines.with_filter(filter)).try_init();
}

/// Styled and escaped text. [`print`] removes the styles where they are not supported.
pub fn styled(style: Style, text: &str) -> String {
    format!("{style}{}{style:#}", escape_lines(text))
}

pub fn width() -> usize {
    let size = terminal_size_of(io::stdout());
    size.map_or(DEFAULT_WIDTH, |(Width(columns), _)| usize::from(columns))
}

/// Writes styled text to stdout. Removes the styles if stdout is not a color terminal or `NO_COLOR` is set.
/// Stops without an error if the reader, such as `head`, closes the pipe.
pub fn print(text: &str) -> Result<(), CliError> {
    write_to(anstream::stdout().lock(), text)
}

pub fn print_raw(text: &str) -> Result<(), CliError> {
    write_to(data_output(io::stdout()), text)
}

pub fn show_message(message: &str) {
    println!("{}", escape_lines(message));
}

pub fn show_note(note: &str) {
    eprintln!("{}", escape_lines(note));
}

pub fn show_error(error: &CliError) {
    show_failure(&with_causes(error));
}

pub fn show_usage_error(error: &clap::Error) {
    let text = error.to_string();
    show_failure(text.trim_end().trim_start_matches("error: "));
}

fn show_failure(message: &str) {
    let label = BAD.bold();
    anstream::eprintln!("{label}error:{label:#} {}", escape_lines(message));
}

fn write_to(mut output: impl io::Write, text: &str) -> Result<(), CliError> {
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to stdout"),
    }
}

/// Wraps and escapes text at `width` characters. Indents lines after the first by `indent` spaces. A word that is
/// longer than a line gets its own line.
pub fn wrap(text: &str, width: usize, indent: usize) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for (index, word) in escape_lines(text).split(' ').enumerate() {
        let length = word.chars().count();
        if index > 0 && column + 1 + length > width && column > indent {
            lines += &format!("\n{:indent$}", "");
            column = indent;
        } else if index > 0 {
            lines.push(' ');
            column += 1;
        }
        lines += word;
        column += length;
    }
    lines
}

/// Suggests commands with the explicit options that locate the data. Locations from the environment and
/// defaults do not need options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NextCommands {
    options: String,
}

impl NextCommands {
    pub fn with_options(options: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        let options = options.into_iter();
        Self {
            options: options.map(|(name, value)| format!(" {name} {}", quote(&value))).collect(),
        }
    }

    pub fn tnr(&self, command: &str) -> String {
        format!("{} {command}{}", program(), self.options)
    }
}

/// `cargo run --` if Cargo started the program, otherwise the program's name.
fn program() -> &'static str {
    if env::var_os("CARGO").is_some() { "cargo run --" } else { "tnr" }
}

/// Escapes a shell word, and quotes it if necessary.
pub fn quote(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", escape_controls(text).replace('\'', r"'\''"))
}

/// Suggested next commands, one per line; may be empty.
pub fn next_steps(commands: &[String]) -> String {
    let labels = ["Next: "].into_iter().chain(std::iter::repeat("      "));
    let lines = labels.zip(commands).map(|(label, command)| format!("{label}{command}"));
    lines.map(|line| styled(HINT, &line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_words_exceed_the_width() {
        assert_eq!(wrap("  one two three", 10, 4), "  one two\n    three");
        assert_eq!(wrap("a-very-long-word b c", 6, 2), "a-very-long-word\n  b c");
        assert_eq!(wrap("fits", 80, 4), "fits");
        assert_eq!(wrap("ab cd", 4, 0), "ab\ncd");
    }
}
