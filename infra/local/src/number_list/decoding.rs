//! The text of a list, whatever its encoding: UTF-8 with or without a byte order mark, UTF-16, and
//! Windows-1252 where a cell is none of these, as Excel writes it.

use std::{
    borrow::Cow,
    io::{self, Cursor, Read},
};

use encoding_rs::{Decoder, Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};
use format::columns::named_delimiter;

/// How many bytes are read at once.
pub(super) const BYTES_AT_ONCE: usize = 64 * 1024;

/// The mark with which a text in UTF-8 may begin.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

const UTF_32: &str = "it is in UTF-32; save it as UTF-8, as with 'iconv -f UTF-32 -t UTF-8 FILE'";
const JSON: &str = "it is JSON, and a CSV or a number in each line is expected; take the numbers out of it \
                    first, as with 'jq -r .phone FILE | tnr format'";

/// What files begin with that hold no text, and what to do with them.
const FOREIGN: [(&[u8], &str); 7] = [
    (b"\xff\xfe\0\0", UTF_32),
    (b"\0\0\xfe\xff", UTF_32),
    (b"PK\x03\x04", "it is a zip or an Excel workbook; unpack it, or save its sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "it is an Excel workbook; save its sheet as CSV"),
    (b"\x1f\x8b", "it is compressed; unpack it first, as with 'gunzip -c FILE | tnr format'"),
    (b"%PDF", "it is a PDF and no list"),
    (b"\x28\xb5\x2f\xfd", "it is compressed; unpack it first"),
];

/// A text as UTF-8, except for cells that are not, and how it began.
pub(super) struct Text {
    pub reader: Box<dyn Read + Send>,
    /// The beginning of the text, up to [`BYTES_AT_ONCE`]; the reader gives it, too.
    pub head: Vec<u8>,
    /// Whether a mark told the encoding, by which Excel tells that of the output, too.
    pub has_mark: bool,
}

impl Text {
    /// The text in `bytes`.
    pub fn of(mut bytes: impl Read + Send + 'static) -> io::Result<Self> {
        let head = head_of(&mut bytes)?;
        if let Some((_, what)) = FOREIGN.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Err(io::Error::other(*what));
        }
        if has_zeros_of_utf_32(&head) {
            return Err(io::Error::other(UTF_32));
        }
        let (encoding, mark) = encoding_of(&head);
        if is_json(&head[mark..]) {
            return Err(io::Error::other(JSON));
        }
        let whole = Cursor::new(head[mark..].to_vec()).chain(bytes);
        let Some(encoding) = encoding else {
            let head = head[mark..].to_vec();
            return Ok(Self { reader: Box::new(whole), head, has_mark: mark > 0 });
        };
        let mut decoded = Utf16::new(whole, encoding);
        let head = head_of(&mut decoded)?;
        let reader = Box::new(Cursor::new(head.clone()).chain(decoded));
        Ok(Self { reader, head, has_mark: true })
    }
}

/// The first bytes, at least one row of them if there is one that is not too long; within quotes a line
/// ends no row. A pipe may give them one by one.
fn head_of(bytes: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = vec![0; BYTES_AT_ONCE];
    let mut length = 0;
    while length < 4 || (length < head.len() && !has_row(&head[..length])) {
        match bytes.read(&mut head[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
    head.truncate(length);
    Ok(head)
}

/// Whether a line ends outside of quotes, after one that only names the delimiter. An escaped quote is
/// two of them.
fn has_row(head: &[u8]) -> bool {
    let begin = named_delimiter(head).map_or(0, |(_, begin)| begin);
    let mut is_quoted = false;
    head[begin..].iter().any(|&byte| {
        is_quoted ^= byte == b'"';
        byte == b'\n' && !is_quoted
    })
}

/// The encoding, unless it is UTF-8, and how many bytes its mark has. Without a mark, UTF-16 is told by
/// the zero bytes of its first two characters.
fn encoding_of(head: &[u8]) -> (Option<&'static Encoding>, usize) {
    match head {
        [0xef, 0xbb, 0xbf, ..] => (None, BYTE_ORDER_MARK.len()),
        [0xff, 0xfe, ..] => (Some(UTF_16LE), 2),
        [0xfe, 0xff, ..] => (Some(UTF_16BE), 2),
        &[a, 0, b, 0, ..] if a > 0 && b > 0 => (Some(UTF_16LE), 0),
        &[0, a, 0, b, ..] if a > 0 && b > 0 => (Some(UTF_16BE), 0),
        _ => (None, 0),
    }
}

/// Returns `true` if three zero bytes stand before or after the first character.
fn has_zeros_of_utf_32(head: &[u8]) -> bool {
    matches!(head, &[a, 0, 0, 0, ..] | &[0, 0, 0, a, ..] if a > 0)
}

/// Returns `true` if a text begins with an object or a list of JSON that holds no plain numbers.
fn is_json(head: &[u8]) -> bool {
    let mut visible = head.iter().filter(|byte| !byte.is_ascii_whitespace() && **byte != 0);
    matches!(
        (visible.next(), visible.next()),
        (Some(b'{'), Some(b'"')) | (Some(b'['), Some(b'{' | b'[' | b'"'))
    )
}

/// Reads UTF-16 as UTF-8. What is no character becomes U+FFFD.
struct Utf16<R> {
    bytes: R,
    decoder: Decoder,
    buffer: Vec<u8>,
    decoded: String,
    /// How much of `decoded` has been read.
    position: usize,
    is_at_end: bool,
}

impl<R: Read> Utf16<R> {
    fn new(bytes: R, encoding: &'static Encoding) -> Self {
        Self {
            bytes,
            decoder: encoding.new_decoder_without_bom_handling(),
            buffer: vec![0; BYTES_AT_ONCE],
            decoded: String::new(),
            position: 0,
            is_at_end: false,
        }
    }

    fn decode_more(&mut self) -> io::Result<()> {
        let read = self.bytes.read(&mut self.buffer)?;
        self.is_at_end = read == 0;
        (self.position, self.decoded) = (0, String::new());
        let most = self.decoder.max_utf8_buffer_length(read).unwrap_or_default();
        self.decoded.reserve(most);
        // There is room for all of it.
        _ = self.decoder.decode_to_string(&self.buffer[..read], &mut self.decoded, self.is_at_end);
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.position == self.decoded.len() && !self.is_at_end {
            self.decode_more()?;
        }
        let read = (&self.decoded.as_bytes()[self.position..]).read(buffer)?;
        self.position += read;
        Ok(read)
    }
}

/// The text of a cell.
pub(super) fn text_of(cell: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(cell) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(cell).0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &'static [u8]) -> (String, bool) {
        let Text { mut reader, has_mark, head } = Text::of(bytes).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text.as_bytes(), head, "short texts are their own beginning");
        (text, has_mark)
    }

    #[test]
    fn a_text_is_read_in_the_encoding_that_its_beginning_tells() {
        for (bytes, expected) in [
            (&b""[..], ("", false)),
            (b"1", ("1", false)),
            (b"\xef\xbb\xbftn\n", ("tn\n", true)),
            (b"\xff\xfet\0n\0\n\0", ("tn\n", true)),
            (b"\xfe\xff\0t\0n\0\n", ("tn\n", true)),
            (b"t\0n\0\n\0", ("tn\n", true)),
            (b"\0t\0n\0\n", ("tn\n", true)),
            (b"\xff\xfet\0\x00\xd8", ("t\u{fffd}", true)),
        ] {
            assert_eq!(text(bytes), (expected.0.to_owned(), expected.1), "{bytes:?}");
        }
    }

    struct OneByOne(Cursor<Vec<u8>>);
    impl Read for OneByOne {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let one = buffer.len().min(1);
            self.0.read(&mut buffer[..one])
        }
    }

    #[test]
    fn a_line_end_within_quotes_does_not_end_the_first_row() {
        let list = b"\"the \"\"best\"\"\nname\",phone\nAda,1\n".to_vec();
        let head = Text::of(OneByOne(Cursor::new(list))).unwrap().head;
        assert_eq!(head, b"\"the \"\"best\"\"\nname\",phone\n");
    }

    #[test]
    fn a_text_may_be_longer_than_what_is_read_at_once_and_come_in_parts() {
        let line = "é305-234-5678\n".repeat(10_000);
        let bytes: Vec<u8> = line.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let whole = [b"\xff\xfe".to_vec(), bytes].concat();
        let mut read = String::new();
        Text::of(OneByOne(Cursor::new(whole))).unwrap().reader.read_to_string(&mut read).unwrap();
        assert_eq!(read, line);
    }

    #[test]
    fn a_file_that_holds_no_text_says_what_it_is() {
        let refused = Text::of(&b"PK\x03\x04..."[..]).err().unwrap();
        assert!(refused.to_string().contains("save its sheet as CSV"));
        for utf_32 in [&b"\xff\xfe\0\0t\0\0\0"[..], b"\0\0\xfe\xff\0\0\0t", b"3\0\0\x000\0\0\0"] {
            let refused = Text::of(utf_32).err().unwrap();
            assert!(refused.to_string().starts_with("it is in UTF-32; save it as UTF-8"));
        }
        for json in ["{\"phone\": 1}\n", "[\n  {\n", " [\"305\"]", "\u{feff}{ \"a\":1}"] {
            let refused = Text::of(json.as_bytes()).err().unwrap();
            assert!(refused.to_string().contains("jq -r .phone FILE | tnr format"), "{json}");
        }
        assert!(Text::of(&b"[305] 234 5678\n"[..]).is_ok());
    }

    #[test]
    fn a_cell_that_is_not_utf_8_is_windows_1252() {
        assert_eq!(text_of(b"Montr\xe9al"), "Montréal");
        assert_eq!(text_of("Montréal".as_bytes()), "Montréal");
    }
}
