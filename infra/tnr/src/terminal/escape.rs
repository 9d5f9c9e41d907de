//! Escapes text that could control a terminal. Files, paths, arguments and data may contain such text.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write},
};

/// Escapes control characters except tabs, and characters that change text direction. The escapes are valid in JSON.
pub fn escape_controls(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        let is_directional = matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        );
        if is_directional || character.is_control() && character != '\t' {
            // Writing to a string never fails.
            _ = write!(escaped, "\\u{:04x}", u32::from(character));
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// Escapes each line of text, but not the line breaks.
pub fn escape_lines(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix("\r\n").or(line.strip_suffix('\n')).unwrap_or(line);
        escaped += &escape_controls(content);
        escaped += &line[content.len()..];
    }
    escaped
}

/// An output for data, which is escaped only on a terminal.
pub fn data_output(output: impl Write + IsTerminal + Send + 'static) -> Box<dyn Write + Send> {
    if output.is_terminal() { Box::new(EscapingWriter::new(output)) } else { Box::new(output) }
}

/// Escapes whole lines. On a flush, the last line may be incomplete.
struct EscapingWriter<W> {
    output: W,
    unwritten: Vec<u8>,
}

impl<W: Write> EscapingWriter<W> {
    fn new(output: W) -> Self {
        Self { output, unwritten: Vec::new() }
    }

    fn write_unwritten(&mut self, length: usize) -> io::Result<()> {
        let text: Vec<u8> = self.unwritten.drain(..length).collect();
        self.output.write_all(escape_lines(&String::from_utf8_lossy(&text)).as_bytes())
    }
}

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.unwritten.extend_from_slice(text);
        if let Some(last) = self.unwritten.iter().rposition(|byte| *byte == b'\n') {
            self.write_unwritten(last + 1)?;
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_unwritten(self.unwritten.len())?;
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_direction_characters_are_escaped() {
        let link = "\u{1b}]8;;https://a.example\u{7}\r\u{7f}\u{9b}31m";
        let expected = r"\u001b]8;;https://a.example\u0007\u000d\u007f\u009b31m";
        assert_eq!(escape_controls(link), expected);
        for character in "\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}".chars() {
            let expected = format!("\\u{:04x}", u32::from(character));
            assert_eq!(escape_controls(&character.to_string()), expected);
        }
        assert_eq!(escape_controls("a\tb é \u{200d}\\"), "a\tb é \u{200d}\\");
        assert_eq!(escape_lines("a\r\n\rb\nc\r"), "a\r\n\\u000db\nc\\u000d");
    }

    #[test]
    fn terminal_output_is_escaped_line_by_line() {
        let mut writer = EscapingWriter::new(Vec::new());
        let text = "é,\u{1b}[2J\r\n\u{202e}é\nend".as_bytes();
        text.chunks(1).for_each(|byte| writer.write_all(byte).unwrap());
        let lines = "é,\\u001b[2J\r\n\\u202eé\n";
        assert_eq!(writer.output, lines.as_bytes());
        writer.flush().unwrap();
        assert_eq!(writer.output, format!("{lines}end").as_bytes());
    }
}
