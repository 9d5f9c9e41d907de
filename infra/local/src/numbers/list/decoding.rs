//! Decodes a list: UTF-8 with or without a byte order mark, UTF-16, and Windows-1252 for other
//! cells, as Excel writes them.

use std::{
    borrow::Cow,
    io::{self, Cursor, Read},
};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};
use encoding_rs_io::DecodeReaderBytesBuilder;
use number_lists::{BUFFER_BYTES, Dialect};

/// The optional UTF-8 byte order mark.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

const UTF_32: &str = "it is in UTF-32; save it as UTF-8, as with 'iconv -f UTF-32 -t UTF-8 FILE'";
const JSON: &str = "it is JSON, and a CSV or a number in each line is expected; take the numbers out of it \
                    first, as with 'jq -r .phone FILE | tnr format'";

/// The first bytes of files that are not lists, with advice.
const FOREIGN: [(&[u8], &str); 7] = [
    (b"\xff\xfe\0\0", UTF_32),
    (b"\0\0\xfe\xff", UTF_32),
    (b"PK\x03\x04", "it is a zip or an Excel workbook; unpack it, or save its sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "it is an Excel workbook; save its sheet as CSV"),
    (b"\x1f\x8b", "it is compressed; unpack it first, as with 'gunzip -c FILE | tnr format'"),
    (b"%PDF", "it is a PDF and no list"),
    (b"\x28\xb5\x2f\xfd", "it is compressed; unpack it first"),
];

/// A text as UTF-8, except for other cells, and how it began.
pub(super) struct Text {
    pub reader: Box<dyn Read + Send>,
    /// The beginning of the text, up to [`BUFFER_BYTES`], which the reader also returns.
    pub head: Vec<u8>,
    /// `true` for UTF-16 or a byte order mark, as Excel writes. Then the output has one, too.
    pub has_mark: bool,
}

impl Text {
    /// Detects a text's encoding and decodes it.
    pub fn decode(mut bytes: impl Read + Send + 'static) -> io::Result<Self> {
        let head = head_of(&mut bytes)?;
        if let Some((_, what)) = FOREIGN.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Err(io::Error::other(*what));
        }
        if matches!(head[..], [1..=255, 0, 0, 0, ..] | [0, 0, 0, 1..=255, ..]) {
            return Err(io::Error::other(UTF_32));
        }
        let utf_16 = unmarked_utf_16(&head);
        let has_mark = utf_16.is_some() || Encoding::for_bom(&head).is_some();
        let mut decoded = DecodeReaderBytesBuilder::new()
            .encoding(utf_16)
            .strip_bom(true)
            .utf8_passthru(true)
            .build(Cursor::new(head).chain(bytes));
        let head = head_of(&mut decoded)?;
        if is_json(&head) {
            return Err(io::Error::other(JSON));
        }
        let reader = Box::new(Cursor::new(head.clone()).chain(decoded));
        Ok(Self { reader, head, has_mark })
    }
}

/// The first bytes, with at least one row if it is short enough. A pipe may supply them one by one.
fn head_of(bytes: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = vec![0; BUFFER_BYTES];
    let mut length = 0;
    while length < 4 || (length < head.len() && !Dialect::has_row(&head[..length])) {
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

/// Detects UTF-16 without a mark from the zero bytes of its first two characters.
fn unmarked_utf_16(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        [1..=255, 0, 1..=255, 0, ..] => Some(UTF_16LE),
        [0, 1..=255, 0, 1..=255, ..] => Some(UTF_16BE),
        _ => None,
    }
}

/// Returns `true` if the text begins with a JSON object, or an array of more than plain numbers.
fn is_json(head: &[u8]) -> bool {
    let mut visible = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    matches!(
        (visible.next(), visible.next()),
        (Some(b'{'), Some(b'"')) | (Some(b'['), Some(b'{' | b'[' | b'"'))
    )
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
        let Text { mut reader, has_mark, head } = Text::decode(bytes).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text.as_bytes(), head, "short texts are their own beginning");
        (text, has_mark)
    }

    #[test]
    fn encoding_is_detected_from_the_beginning() {
        for (bytes, expected, has_mark) in [
            (&b""[..], "", false),
            (b"1", "1", false),
            (b"\xef\xbb\xbftn\n", "tn\n", true),
            (b"\xff\xfet\0n\0\n\0", "tn\n", true),
            (b"\xfe\xff\0t\0n\0\n", "tn\n", true),
            (b"t\0n\0\n\0", "tn\n", true),
            (b"\0t\0n\0\n", "tn\n", true),
            (b"\xff\xfet\0\x00\xd8", "t\u{fffd}", true),
        ] {
            assert_eq!(text(bytes), (expected.to_owned(), has_mark), "{bytes:?}");
        }
        // Cells that are not UTF-8, even after a mark.
        let after_mark = Text::decode(&b"\xef\xbb\xbfMontr\xe9al\n"[..]).unwrap().head;
        assert_eq!(after_mark, b"Montr\xe9al\n");
        assert_eq!([text_of(b"Montr\xe9al"), text_of("Montréal".as_bytes())], ["Montréal"; 2]);
    }

    struct OneByOne(Cursor<Vec<u8>>);
    impl Read for OneByOne {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let one = buffer.len().min(1);
            self.0.read(&mut buffer[..one])
        }
    }

    #[test]
    fn long_text_may_arrive_in_parts() {
        let line = "é305-234-5678\n".repeat(10_000);
        let utf_16 = [0xfeff].into_iter().chain(line.encode_utf16()).flat_map(u16::to_le_bytes);
        let mut text = Text::decode(OneByOne(Cursor::new(utf_16.collect()))).unwrap();
        assert_eq!(text.head, "é305-234-5678\n".as_bytes());
        let mut read = String::new();
        text.reader.read_to_string(&mut read).unwrap();
        assert_eq!(read, line);
    }

    #[test]
    fn other_files_are_refused_with_advice() {
        for (bytes, advice) in [
            (&b"PK\x03\x04..."[..], "save its sheet as CSV"),
            (b"\xff\xfe\0\0t\0\0\0", "it is in UTF-32; save it as UTF-8"),
            (b"\0\0\xfe\xff\0\0\0t", "it is in UTF-32; save it as UTF-8"),
            (b"3\0\0\x000\0\0\0", "it is in UTF-32; save it as UTF-8"),
            (b"{\"phone\": 1}\n", "jq -r .phone FILE | tnr format"),
            (b"[\n  {\n", "jq -r .phone FILE | tnr format"),
            (b" [\"305\"]", "jq -r .phone FILE | tnr format"),
            (b"\xef\xbb\xbf{ \"a\":1}", "jq -r .phone FILE | tnr format"),
        ] {
            let refused = Text::decode(bytes).err().unwrap().to_string();
            assert!(refused.contains(advice), "{bytes:?}: {refused}");
        }
        assert!(Text::decode(&b"[305] 234 5678\n"[..]).is_ok());
    }
}
