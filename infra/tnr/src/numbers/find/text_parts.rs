//! Reads text of any length in parts that consist of whole lines.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

use encoding_rs::{Encoding, UTF_8};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};

const READ_BYTES: usize = 64 * 1024;
/// The length of the longest byte order mark.
const BOM_BYTES: u64 = 3;
/// This many digits separated by NUL bytes are not a coincidence.
const HIDDEN_DIGITS: usize = 4;
/// The minimum length of a file's parts, so that each is worth a thread.
const MIN_FILE_PART: usize = 256 * 1024;

const NOT_TEXT: &str = "it has NUL bytes between digits, as in UTF-16; convert it, for example with \
                        'iconv -f UTF-16 -t UTF-8 FILE'";

#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    pub text: Vec<u8>,
    /// The number of the first line, starting at 1.
    pub line: u64,
}

/// A reader's text as UTF-8, starting with the bytes that were read to detect the encoding.
type Decoded<R> = DecodeReaderBytes<Chain<Cursor<Vec<u8>>, R>, Vec<u8>>;

/// The parts of text in UTF-8, or in UTF-16 with a byte order mark.
pub struct Parts<R: Read> {
    reader: BufReader<Decoded<R>>,
    pub is_utf_16: bool,
    is_file: bool,
    next_line: u64,
    /// A read error, to return after the text that came before it.
    error: Option<io::Error>,
    is_done: bool,
}

impl<R: Read> Parts<R> {
    /// Detects the encoding. A part ends where the reader pauses, unless it reads a file.
    pub fn new(mut reader: R, is_file: bool) -> io::Result<Self> {
        let mut head = Vec::new();
        reader.by_ref().take(BOM_BYTES).read_to_end(&mut head)?;
        let is_utf_16 = Encoding::for_bom(&head).is_some_and(|(encoding, _)| encoding != UTF_8);
        let text = Cursor::new(head).chain(reader);
        let text = DecodeReaderBytesBuilder::new().utf8_passthru(true).build(text);
        let reader = BufReader::with_capacity(READ_BYTES, text);
        Ok(Self { reader, is_utf_16, is_file, next_line: 1, error: None, is_done: false })
    }

    /// Reads whole lines. Returns empty text at the end.
    fn read(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        loop {
            match self.reader.read_until(b'\n', &mut text) {
                Ok(0) => self.is_done = true,
                Ok(_) => {
                    let is_waiting = !self.is_file && !self.reader.buffer().contains(&b'\n');
                    if text.len() < MIN_FILE_PART && !is_waiting {
                        continue;
                    }
                }
                Err(error) => self.error = Some(error),
            }
            return text;
        }
    }
}

impl<R: Read> Iterator for Parts<R> {
    type Item = io::Result<Part>;

    fn next(&mut self) -> Option<io::Result<Part>> {
        let text = if self.error.is_none() && !self.is_done { self.read() } else { Vec::new() };
        if hides_digits(&text) {
            self.error = Some(io::Error::other(NOT_TEXT));
        } else if !text.is_empty() {
            let line = self.next_line;
            self.next_line += text.iter().filter(|byte| **byte == b'\n').count() as u64;
            return Some(Ok(Part { text, line }));
        }
        let error = self.error.take()?;
        self.is_done = true;
        Some(Err(error))
    }
}

/// Returns `true` if NUL bytes separate digits, as in UTF-16 or UTF-32 without a byte order mark. The search would miss
/// these numbers. NUL bytes in other text are fine.
fn hides_digits(text: &[u8]) -> bool {
    let mut consecutive = 0;
    text.contains(&b'\0')
        && text.split(u8::is_ascii_digit).any(|between| {
            let is_nul = !between.is_empty() && between.iter().all(|byte| *byte == b'\0');
            consecutive = if is_nul { consecutive + 1 } else { 0 };
            consecutive == HIDDEN_DIGITS
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &[u8], is_file: bool) -> Vec<Part> {
        Parts::new(text, is_file).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn parts_consist_of_whole_lines_with_their_position() {
        let line = "é 305 234 5678\n";
        let text = line.repeat(40_000) + "end";
        for is_file in [true, false] {
            let parts = parts(text.as_bytes(), is_file);
            assert!(parts.len() > 1);
            let joined: Vec<u8> = parts.iter().flat_map(|part| part.text.clone()).collect();
            assert_eq!(joined, text.as_bytes());
            let mut lines = 1;
            for Part { text, line: first } in parts {
                assert_eq!(first, lines);
                assert!(text.ends_with(b"\n") || text.ends_with(b"end"));
                lines += (text.len() / line.len()) as u64;
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
    fn read_errors_are_returned_after_the_text() {
        struct BrokenReader;
        impl Read for BrokenReader {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let mut parts = Parts::new((&b"a\nbcdef"[..]).chain(BrokenReader), false).unwrap();
        assert_eq!(parts.next().unwrap().unwrap().text, b"a\n");
        assert_eq!(parts.next().unwrap().unwrap().text, b"bcdef");
        assert!(parts.next().unwrap().is_err());
        assert!(parts.next().is_none());
    }
}
