//! Terminal text: wrapped to fit, and colored where supported.

pub mod log;
pub mod next_commands;

use std::io::{self, ErrorKind};

use anstyle::{AnsiColor, Style};
use logging::with_causes;
use terminal_size::{Width, terminal_size_of};

use crate::error::{CliError, Context};

/// The width of a file, a pipe, or a terminal of unknown width.
const DEFAULT_WIDTH: usize = 80;

pub const HEADING: Style = Style::new().bold();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const WARNING: Style = AnsiColor::Yellow.on_default();
pub const HINT: Style = Style::new().dimmed();

/// Styled text. [`print`] removes the styles where they are not supported.
pub fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// The number of columns of stdout.
pub fn width() -> usize {
    let size = terminal_size_of(io::stdout());
    size.map_or(DEFAULT_WIDTH, |(Width(columns), _)| usize::from(columns))
}

/// Writes styled text to stdout, without styles if it is not a color terminal or `NO_COLOR` is set.
/// A reader such as `head` may close it early.
pub fn print(text: &str) -> Result<(), CliError> {
    written(anstream::stdout().lock(), text)
}

/// Writes unstyled text, such as JSON, to stdout.
pub fn print_raw(text: &str) -> Result<(), CliError> {
    written(io::stdout().lock(), text)
}

/// Writes an error to stderr.
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

/// A space where [`wrapped`] does not break the line.
pub const NO_BREAK_SPACE: char = '\u{a0}';

/// Wraps text at `width` characters, with all lines after the first indented by `indent` spaces. A
/// word longer than a line gets its own.
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
        lines += &word.replace(NO_BREAK_SPACE, " ");
        column += length;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_lines_fit_except_for_longer_words() {
        assert_eq!(wrapped("  one two three", 10, 4), "  one two\n    three");
        assert_eq!(wrapped("a-very-long-word b c", 6, 2), "a-very-long-word\n  b c");
        assert_eq!(wrapped("fits", 80, 4), "fits");
    }
}
