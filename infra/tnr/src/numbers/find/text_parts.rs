//! Reads text of any length in parts that do not split a number.

use std::io::{self, Chain, Cursor, Read};

use encoding_rs::{Encoding, UTF_8};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};

const READ_BYTES: usize = 64 * 1024;
/// The length of the longest byte order mark.
const BOM_BYTES: u64 = 3;
/// This many digits followed by NUL bytes are not a coincidence.
const HIDDEN_DIGITS: usize = 4;
/// A file's parts are at least this long, so that each is worth a thread.
const MIN_FILE_PART: usize = 256 * 1024;
/// A line is split if it is longer.
const MAX_LINE: usize = 1024 * 1024;

const NOT_TEXT: &str = "it has NUL bytes between digits, as in UTF-16; convert it, for example with \
                        'iconv -f UTF-16 -t UTF-8 FILE'";

/// Consecutive whole lines, or a piece of a very long line.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    pub text: Vec<u8>,
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

/// The parts of a text, which is UTF-8, or UTF-16 with a byte order mark.
pub struct Parts<R: Read> {
    reader: DecodeReaderBytes<Chain<Cursor<Vec<u8>>, R>, Vec<u8>>,
    is_utf_16: bool,
    min_part: usize,
    max_line: usize,
    unfinished: Vec<u8>,
    /// The end of the last whole line in `unfinished`.
    line_end: Option<usize>,
    position: Position,
    is_done: bool,
}

impl<R: Read> Parts<R> {
    /// Detects the encoding. Unless the reader reads a file, a part ends where it pauses.
    pub fn new(mut reader: R, is_file: bool) -> io::Result<Self> {
        let mut head = Vec::new();
        reader.by_ref().take(BOM_BYTES).read_to_end(&mut head)?;
        let is_utf_16 = Encoding::for_bom(&head).is_some_and(|(encoding, _)| encoding != UTF_8);
        let text = Cursor::new(head).chain(reader);
        Ok(Self {
            reader: DecodeReaderBytesBuilder::new().utf8_passthru(true).build(text),
            is_utf_16,
            min_part: if is_file { MIN_FILE_PART } else { 0 },
            max_line: MAX_LINE,
            unfinished: Vec::new(),
            line_end: None,
            position: Position { line: 1, column: 0 },
            is_done: false,
        })
    }

    /// Returns `true` if the text was not UTF-8.
    pub fn is_utf_16(&self) -> bool {
        self.is_utf_16
    }

    /// Reads more text. At the end, all of it is ready.
    fn read(&mut self) -> io::Result<()> {
        let length = self.unfinished.len();
        self.unfinished.resize(length + READ_BYTES, 0);
        let read = self.reader.read(&mut self.unfinished[length..]);
        self.unfinished.truncate(length + *read.as_ref().unwrap_or(&0));
        let new = &self.unfinished[length..];
        let last_line_end = new.iter().rposition(|byte| *byte == b'\n');
        self.line_end = last_line_end.map(|last| length + last + 1).or(self.line_end);
        if hides_digits(new) {
            self.is_done = true;
            self.unfinished.clear();
            return Err(io::Error::other(NOT_TEXT));
        }
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
        self.line_end.or_else(|| if text.len() > self.max_line { split_point(text) } else { None })
    }
}

/// Returns `true` if digits are apart by NUL bytes, as in UTF-16 or UTF-32 without a byte order mark. No number would
/// be found there. Other text may have NUL bytes.
fn hides_digits(text: &[u8]) -> bool {
    let mut consecutive = 0;
    text.contains(&b'\0')
        && text.split(u8::is_ascii_digit).any(|between| {
            let is_nul = !between.is_empty() && between.iter().all(|byte| *byte == b'\0');
            consecutive = if is_nul { consecutive + 1 } else { 0 };
            consecutive == HIDDEN_DIGITS
        })
}

/// The last position at which a long line can be split, since no number continues there: after a separator, or between two
/// words. Looks only at the end of the line.
fn split_point(line: &[u8]) -> Option<usize> {
    let start = line.len().saturating_sub(2 * READ_BYTES);
    let (mut offset, mut found) = (start, None);
    for chunk in line[start..].utf8_chunks() {
        found = split_point_in_text(chunk.valid()).map(|split| offset + split).or(found);
        offset += chunk.valid().len() + chunk.invalid().len();
    }
    found
}

fn split_point_in_text(text: &str) -> Option<usize> {
    const SEPARATORS: [char; 8] = ['"', '<', '>', '{', '}', '|', '!', '?'];
    let separator = text.rfind(SEPARATORS).map(|last| last + 1);
    let mut words = text.split(' ').rev().scan(text.len(), |end, word| {
        let start = *end - word.len();
        *end = start.saturating_sub(1);
        Some((start, word))
    });
    // The last word may be incomplete.
    let mut next = words.next();
    let between_words = words.find_map(|(start, word)| {
        let (next_start, next_word) = next.replace((start, word))?;
        (is_word(word) && is_word(next_word)).then_some(next_start)
    });
    separator.max(between_words)
}

/// Returns `true` for letters alone. Such a word may mark an extension only next to digits, and belong to a vanity number
/// only in capitals.
fn is_word(text: &str) -> bool {
    text.chars().count() > 1
        && text.chars().all(char::is_alphabetic)
        && !text.bytes().all(|byte| byte.is_ascii_uppercase())
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
                self.line_end = None;
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
        Parts::new(text, is_file).unwrap().map(Result::unwrap).collect()
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

    /// The limit for a line here, which saves time.
    const SHORT_LINE: usize = 64 * 1024;

    fn short_parts<R: Read>(reader: R) -> Parts<R> {
        let parts = Parts::new(reader, true).unwrap();
        Parts { min_part: 0, max_line: SHORT_LINE, ..parts }
    }

    /// The text of each part; there are at least this many.
    fn texts(text: &str, min_parts: usize) -> Vec<String> {
        let parts: Vec<Part> = short_parts(text.as_bytes()).map(Result::unwrap).collect();
        assert!(parts.len() >= min_parts, "{}", parts.len());
        let mut position = Position { line: 1, column: 0 };
        for part in &parts {
            assert_eq!(part.start, position);
            position = position.after(&part.text);
        }
        parts.into_iter().map(|part| String::from_utf8(part.text).unwrap()).collect()
    }

    /// A cut number would stay in a redacted text.
    #[test]
    fn long_lines_are_never_split_within_a_number() {
        for shift in (0..60).step_by(7) {
            for sentence in [
                "Dear customer, our number is 202-456-1111 ext. 5 or (305) 234 5678. ",
                "{\"tel\":\"202 456 1111\",\"é\":12},",
                "número del cliente 202-456-1111 ",
            ] {
                let text = "a".repeat(shift) + " " + &sentence.repeat(5_000);
                let texts = texts(&text, 2);
                assert_eq!(texts.concat(), text);
                let count = |text: &str| text.matches("202").count();
                let whole = |text: &str| {
                    text.matches("202-456-1111").count() + text.matches("202 456 1111").count()
                };
                assert!(texts.iter().all(|text| count(text) == whole(text)), "{shift}: {sentence}");
                assert!(!texts.iter().any(|text| text.trim_end().ends_with("ext.")));
            }
        }
    }

    #[test]
    fn nul_bytes_are_part_of_the_text_unless_they_hide_digits() {
        for text in ["\x00305 234 5678\0\0\n", "ab\0c\0d\0e\0f\0", "1\x002\x003\x004 5\0"] {
            assert_eq!(parts(text.as_bytes(), true)[0].text, text.as_bytes());
        }
        for text in ["abc 1\x002\x003\x004\x005", "é x 1\0\x002\0\x003\0\x004\0\x005"] {
            let mut parts = Parts::new(text.as_bytes(), true).unwrap();
            let error = parts.next().unwrap().unwrap_err().to_string();
            assert!(error.contains("NUL bytes") && parts.next().is_none(), "{text:?}: {error}");
        }
    }

    #[test]
    fn utf_16_with_a_byte_order_mark_is_decoded() {
        let text = "é 305\n";
        let utf_16 = |bytes: fn(u16) -> [u8; 2]| {
            "\u{feff}"
                .encode_utf16()
                .chain(text.encode_utf16())
                .flat_map(bytes)
                .collect::<Vec<u8>>()
        };
        let marked = format!("\u{feff}{text}");
        for (bytes, expected, is_utf_16) in [
            (&*utf_16(u16::to_le_bytes), text, true),
            (&*utf_16(u16::to_be_bytes), text, true),
            (text.as_bytes(), text, false),
            (marked.as_bytes(), &*marked, false),
        ] {
            assert_eq!(Parts::new(bytes, true).unwrap().is_utf_16(), is_utf_16, "{bytes:?}");
            assert_eq!(parts(bytes, true)[0].text, expected.as_bytes(), "{bytes:?}");
        }
    }

    #[test]
    fn long_lines_are_split_neither_within_capitals_nor_among_numbers_alone() {
        let split = split_point_in_text("see also 1 800 GO FEDEX NOW OR N").unwrap();
        assert_eq!(split, "see ".len());
        assert_eq!(texts(&"202-456-1111 ".repeat(20_000), 1).len(), 1);
    }

    #[test]
    fn read_errors_come_after_the_text() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let mut parts = Parts::new((&b"a\nbcdef"[..]).chain(Broken), false).unwrap();
        assert_eq!(parts.next().unwrap().unwrap().text, b"a\n");
        assert!(parts.next().unwrap().is_err());
        assert_eq!(parts.next().unwrap().unwrap().text, b"bcdef");
        assert!(parts.next().is_none());
    }
}
