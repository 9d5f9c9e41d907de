//! Text for a terminal: lines that fit its width, and a few colors where it takes them.

pub mod log;
pub mod next_commands;

use std::io::{self, ErrorKind};

use anstyle::{AnsiColor, Style};
use logging::with_causes;
use terminal_size::{Width, terminal_size_of};

use crate::{CliError, error::Context};

/// The width of a file or pipe, or of a terminal that does not tell its own.
const DEFAULT_WIDTH: usize = 80;

pub const HEADING: Style = Style::new().bold();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const WARNING: Style = AnsiColor::Yellow.on_default();
pub const HINT: Style = Style::new().dimmed();

/// The text in this style, which [`print`] takes out again where nothing shows it.
pub fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// The number of characters that fit into a line of the standard output.
pub fn width() -> usize {
    let size = terminal_size_of(io::stdout());
    size.map_or(DEFAULT_WIDTH, |(Width(columns), _)| usize::from(columns))
}

/// Writes text with styles to the standard output; without them unless that is a terminal that takes
/// them and `NO_COLOR` is not set. A reader that has read enough, such as `head`, may close it.
pub fn print(text: &str) -> Result<(), CliError> {
    written(anstream::stdout().lock(), text)
}

/// Writes text as it is to the standard output, such as JSON.
pub fn print_raw(text: &str) -> Result<(), CliError> {
    written(io::stdout().lock(), text)
}

/// Writes why the program gave up to the standard error.
pub fn show_error(error: &CliError) {
    let label = BAD.bold();
    anstream::eprintln!("{label}error:{label:#} {}", with_causes(error));
}

fn written(mut output: impl io::Write, text: &str) -> Result<(), CliError> {
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to the standard output"),
    }
}

/// A space at which [`wrapped`] ends no line.
pub const NO_BREAK: char = '\u{a0}';

/// The text in lines of at most `width` characters. Every line but the first is indented by `indent`
/// spaces; a word that is too long for a line keeps one to itself.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for (place, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if place > 0 && column + 1 + length > width && column > indent {
            lines += &format!("\n{:indent$}", "");
            column = indent;
        } else if place > 0 {
            lines.push(' ');
            column += 1;
        }
        lines += &word.replace(NO_BREAK, " ");
        column += length;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_lines_fit_and_only_a_longer_word_sticks_out() {
        assert_eq!(wrapped("  one two three", 10, 4), "  one two\n    three");
        assert_eq!(wrapped("a-very-long-word b c", 6, 2), "a-very-long-word\n  b c");
        assert_eq!(wrapped("fits", 80, 4), "fits");
    }
}
