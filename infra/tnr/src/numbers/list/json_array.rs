//! Writes JSON Lines as a JSON array.

use std::io::{self, Write};

/// Puts the lines written to it into an array.
pub(super) struct JsonArray<W> {
    output: W,
    /// The text before the next byte: the separator after a finished line, otherwise nothing.
    separator: &'static [u8],
}

const START: &[u8] = b"[\n";

impl<W: Write> JsonArray<W> {
    pub fn new(output: W) -> Self {
        Self { output, separator: START }
    }

    /// Ends the array. The last line must be complete.
    pub fn finish(mut self) -> io::Result<()> {
        self.output.write_all(if self.separator == START { b"[]\n" } else { b"\n]\n" })?;
        self.output.flush()
    }
}

impl<W: Write> Write for JsonArray<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            self.output.write_all(std::mem::take(&mut self.separator))?;
            match line.strip_suffix(b"\n") {
                Some(line) => {
                    self.output.write_all(line)?;
                    self.separator = b",\n";
                }
                None => self.output.write_all(line)?,
            }
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_written_in_any_pieces_become_the_items_of_an_array() {
        for (pieces, expected) in [
            (&[][..], "[]\n"),
            (&["1\n"], "[\n1\n]\n"),
            (&["1", "\n", "", "2", "3\n4", "\n"], "[\n1,\n23,\n4\n]\n"),
            (&["1\n2\n3\n"], "[\n1,\n2,\n3\n]\n"),
        ] {
            let mut output = Vec::new();
            let mut array = JsonArray::new(&mut output);
            pieces.iter().for_each(|piece| array.write_all(piece.as_bytes()).unwrap());
            array.finish().unwrap();
            assert_eq!(String::from_utf8(output).unwrap(), expected, "{pieces:?}");
        }
    }
}
