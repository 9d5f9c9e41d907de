//! Decodes a list in UTF-8, or in UTF-16 with a byte order mark. Cells that are not UTF-8 are read as Windows-1252, as
//! written by Excel.

use std::{
    borrow::Cow,
    io::{self, Cursor, Read},
};

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use encoding_rs_io::DecodeReaderBytesBuilder;
use number_lists::{BUFFER_BYTES, Dialect};

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

const JSON: &str = "it is JSON, not CSV or one number per line; extract the numbers first, for example \
                    with 'jq -r .phone FILE | tnr format'";

const UNSUPPORTED: [(&[u8], &str); 4] = [
    (b"PK\x03\x04", "it is a zip or an Excel workbook; unpack it, or save its sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "it is an Excel workbook; save its sheet as CSV"),
    (b"\x1f\x8b", "it is compressed; unpack it, for example with 'gunzip -c FILE | tnr format'"),
    (b"\x28\xb5\x2f\xfd", "it is compressed; unpack it first"),
];

pub(super) struct Text {
    /// Reads UTF-8, except for cells in Windows-1252.
    pub reader: Box<dyn Read + Send>,
    /// The start of the text, up to [`BUFFER_BYTES`]. The reader returns it as well.
    pub head: Vec<u8>,
    pub is_utf_16: bool,
    /// `true` with a byte order mark, as written by Excel. The output then also gets one.
    pub has_bom: bool,
}

impl Text {
    pub fn decode(mut bytes: impl Read + Send + 'static) -> io::Result<Self> {
        let head = read_head(&mut bytes)?;
        if let Some((_, advice)) = UNSUPPORTED.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Err(io::Error::other(*advice));
        }
        let marked = Encoding::for_bom(&head).map(|(encoding, _)| encoding);
        let is_utf_16 = marked.is_some_and(|encoding| encoding != UTF_8);
        let has_bom = marked.is_some();
        let mut decoded = DecodeReaderBytesBuilder::new()
            .strip_bom(true)
            .utf8_passthru(true)
            .build(Cursor::new(head).chain(bytes));
        let head = read_head(&mut decoded)?;
        if is_json(&head) {
            return Err(io::Error::other(JSON));
        }
        let reader = Box::new(Cursor::new(head.clone()).chain(decoded));
        Ok(Self { reader, head, is_utf_16, has_bom })
    }
}

/// Reads the first bytes, including a whole row if possible. A pipe may return a few bytes at a time.
fn read_head(bytes: &mut impl Read) -> io::Result<Vec<u8>> {
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

/// Returns `true` if the text starts like a JSON object, or like an array of strings, objects or
/// arrays.
fn is_json(head: &[u8]) -> bool {
    let mut visible = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    matches!(
        (visible.next(), visible.next()),
        (Some(b'{'), Some(b'"')) | (Some(b'['), Some(b'{' | b'[' | b'"'))
    )
}

pub(super) fn decode_cell(cell: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(cell) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(cell).0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct OneByteReader(Cursor<Vec<u8>>);

    impl Read for OneByteReader {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(1);
            self.0.read(&mut buffer[..length])
        }
    }

    #[test]
    fn long_text_can_arrive_byte_by_byte() {
        let line = "é305-234-5678\n".repeat(10_000);
        let utf_16 = [0xfeff].into_iter().chain(line.encode_utf16()).flat_map(u16::to_le_bytes);
        let mut text = Text::decode(OneByteReader(Cursor::new(utf_16.collect()))).unwrap();
        assert_eq!(text.head, "é305-234-5678\n".as_bytes());
        assert_eq!(io::read_to_string(&mut text.reader).unwrap(), line);
    }
}
