//! Reads text of any length in parts that do not split a number.

use std::io::{self, Read};

use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};

const READ_BYTES: usize = 64 * 1024;
/// A file's parts are at least this long, so that each is worth a thread.
const MIN_FILE_PART: usize = 256 * 1024;
/// A line is split if it is longer.
const MAX_LINE: usize = 1024 * 1024;

/// Consecutive whole lines, or a piece of a very long line.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    pub text: Vec<u8>,
    /// The position of the first character.
    pub start: Position,
}

/// A position in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// From 1.
    pub line: u64,
    /// In code points from 0.
    pub column: u64,
}

impl Position {
    /// The position after some text that starts here.
    pub fn after(self, text: &[u8]) -> Self {
        let last_line = text.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let lines = text.iter().filter(|byte| **byte == b'\n').count() as u64;
        let column = if lines == 0 { self.column } else { 0 };
        Self { line: self.line + lines, column: column + code_points(last_line) }
    }
}

/// The code points in UTF-8. Each byte of invalid text counts as one, unless it looks like the rest of a character.
pub fn code_points(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count() as u64
}

/// The parts of a text, which is UTF-8, or starts with another encoding's byte order mark.
pub struct Parts<R: Read> {
    reader: DecodeReaderBytes<R, Vec<u8>>,
    min_part: usize,
    unfinished: Vec<u8>,
    position: Position,
    is_done: bool,
}

impl<R: Read> Parts<R> {
    /// Unless it reads a file, a part ends where the reader pauses.
    pub fn new(reader: R, is_file: bool) -> Self {
        let reader = DecodeReaderBytesBuilder::new().utf8_passthru(true).build(reader);
        Self {
            reader,
            min_part: if is_file { MIN_FILE_PART } else { 0 },
            unfinished: Vec::new(),
            position: Position { line: 1, column: 0 },
            is_done: false,
        }
    }

    /// Reads more text. At the end, all of it is ready.
    fn read(&mut self) -> io::Result<()> {
        let length = self.unfinished.len();
        self.unfinished.resize(length + READ_BYTES, 0);
        let read = self.reader.read(&mut self.unfinished[length..]);
        self.unfinished.truncate(length + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => self.is_done = true,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.is_done = true;
                return Err(error);
            }
            _ => (),
        }
        Ok(())
    }

    /// The length of the text that is ready.
    fn ready(&self) -> Option<usize> {
        let text = &self.unfinished;
        if self.is_done {
            return Some(text.len()).filter(|length| *length > 0);
        }
        if text.len() < self.min_part {
            return None;
        }
        let line_end = text.iter().rposition(|byte| *byte == b'\n').map(|last| last + 1);
        line_end.or_else(|| (text.len() > MAX_LINE).then(|| split_point(text)))
    }
}

/// The last place where a long line can be split: after a character that is in no number, and no sign of one.
fn split_point(line: &[u8]) -> usize {
    const SEPARATORS: &[u8] = b"\"<>{}|!?\r";
    let separator = line.iter().rposition(|byte| SEPARATORS.contains(byte));
    let is_start = |byte: &u8| *byte & 0b1100_0000 != 0b1000_0000;
    separator.map(|last| last + 1).or_else(|| line.iter().rposition(is_start)).unwrap_or(line.len())
}

impl<R: Read> Iterator for Parts<R> {
    type Item = io::Result<Part>;

    fn next(&mut self) -> Option<io::Result<Part>> {
        loop {
            if let Some(length) = self.ready() {
                let rest = self.unfinished.split_off(length);
                let text = std::mem::replace(&mut self.unfinished, rest);
                let start = self.position;
                self.position = start.after(&text);
                return Some(Ok(Part { text, start }));
            }
            if self.is_done {
                return None;
            }
            if let Err(error) = self.read() {
                return Some(Err(error));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &[u8], is_file: bool) -> Vec<Part> {
        Parts::new(text, is_file).map(Result::unwrap).collect()
    }

    #[test]
    fn parts_are_whole_lines_and_know_their_position() {
        let line = "é 305 234 5678\n";
        let text = line.repeat(40_000);
        for is_file in [true, false] {
            let parts = parts(text.as_bytes(), is_file);
            assert!(parts.len() > 1);
            let joined: Vec<u8> = parts.iter().flat_map(|part| part.text.clone()).collect();
            assert_eq!(joined, text.as_bytes());
            let mut lines = 1;
            for Part { text, start } in parts {
                assert_eq!(start, Position { line: lines, column: 0 });
                assert!(text.ends_with(b"\n"));
                lines += (text.len() / line.len()) as u64;
            }
        }
    }

    #[test]
    fn long_lines_are_split_after_a_separator_or_else_a_character() {
        let json = "{\"é\":\"305 234 5678\"},".repeat(200_000);
        let parts = parts(json.as_bytes(), true);
        assert!(parts.len() > 2);
        let ends_well = |part: &Part| b"\"{}".contains(part.text.last().unwrap());
        assert!(parts[..parts.len() - 1].iter().all(ends_well));
        let second = parts[1].start;
        let first = String::from_utf8(parts[0].text.clone()).unwrap();
        assert_eq!(second, Position { line: 1, column: first.chars().count() as u64 });
        let unbroken = "é".repeat(MAX_LINE);
        let parts = super::tests::parts(unbroken.as_bytes(), true);
        assert!(parts.len() > 1 && parts.iter().all(|part| str::from_utf8(&part.text).is_ok()));
    }

    #[test]
    fn utf_16_is_decoded() {
        let text = "é 305\n";
        let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let parts = parts(&[b"\xff\xfe", &utf_16[..]].concat(), true);
        assert_eq!(parts[0].text, text.as_bytes());
    }

    #[test]
    fn read_errors_come_after_the_text() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let mut parts = Parts::new((&b"a\nb"[..]).chain(Broken), false);
        assert_eq!(parts.next().unwrap().unwrap().text, b"a\n");
        assert!(parts.next().unwrap().is_err());
        assert_eq!(parts.next().unwrap().unwrap().text, b"b");
        assert!(parts.next().is_none());
    }
}
