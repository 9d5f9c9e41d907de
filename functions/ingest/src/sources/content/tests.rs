use std::io::{Cursor, Write};

use flate2::{Compression, write::GzEncoder};
use logging::with_causes;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::*;

fn zip_file(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        if name.ends_with('/') {
            writer.add_directory(*name, SimpleFileOptions::default()).unwrap();
            continue;
        }
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn text(bytes: &[u8]) -> Result<String, String> {
    let content = Content::new("a report".to_owned(), Box::new(Cursor::new(bytes.to_vec())))
        .map_err(|error| error.to_string())?;
    let read_text = |reader: &mut dyn Read| {
        let mut text = String::new();
        reader.read_to_string(&mut text).map_err(|error| ReportError::new(error.to_string()))?;
        Ok(text)
    };
    content.read(|_| (), read_text).map_err(|error| with_causes(&error))
}

fn gzip_file(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn archive_is_unpacked_unless_it_is_truncated_or_has_several_files() {
    let (zip, gzip) = (zip_file(&[("a.txt", b"text")]), gzip_file(b"text"));
    // Files added by macOS are ignored.
    let mac: [(&str, &[u8]); 6] = [
        ("reports/", b""),
        ("reports/a.txt", b"text"),
        ("reports/._a.txt", b"Mac OS X"),
        ("__MACOSX/reports/._a.txt", b"Mac OS X"),
        ("__MACOSX/reports/a.txt", b"Mac OS X"),
        ("reports/.DS_Store", b"Bud1"),
    ];
    for packed in [&zip, &gzip, &zip_file(&mac)] {
        assert_eq!(text(packed).unwrap(), "text\n");
    }
    let two = [&mac[..], &[("b.txt", b"")]].concat();
    for (packed, expected) in [
        (&zip[..zip.len() / 2], "the zip is damaged or truncated"),
        (&gzip[..gzip.len() - 4], "the gzip file is damaged or truncated"),
        (&zip_file(&two), "the zip has 2 files; it must have exactly one"),
        (&zip_file(&[]), "the zip has 0 files"),
        (&zip_file(&[("a.gz", &gzip)]), "the zip contains another archive; unpack it first"),
    ] {
        let error = text(packed).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn flipped_byte_causes_a_checksum_error() {
    let rows = b"OCN,Company\n0051,A\n".repeat(10);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    writer.start_file("a.csv", stored).unwrap();
    writer.write_all(&rows).unwrap();
    let mut zip = writer.finish().unwrap().into_inner();
    zip[60] ^= 0x20;
    let error = text(&zip).unwrap_err();
    assert!(error.starts_with("the zip is damaged or truncated: "), "{error}");
    assert!(error.contains("checksum"), "{error}");
    let mut gzip = gzip_file(&rows);
    let checksum = gzip.len() - 8;
    gzip[checksum] ^= 1;
    assert!(text(&gzip).unwrap_err().contains("checksum"));
}

#[test]
fn unsupported_file_formats_are_named_in_the_error() {
    let utf16: Vec<u8> = "OCN,Company".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let with_bom = [b"\xff\xfe".as_slice(), &utf16].concat();
    for (bytes, what) in [
        (utf16.as_slice(), "UTF-16"),
        (&with_bom, "UTF-16"),
        (b"\xfe\xff\0O\0C", "UTF-16"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "XLS"),
        (b"%PDF-1.7", "PDF"),
        (b"<!DOCTYPE html>", "it is a web page, not a report"),
        ("\u{feff}\r\n <html>".as_bytes(), "it is a web page"),
        (b"7z\xbc\xaf\x27\x1c", "7z archive"),
        (&zip_file(&[("[Content_Types].xml", b""), ("xl/workbook.xml", b"")]), "XLSX"),
        (&zip_file(&[("a.txt", &with_bom)]), "in the zip: it is UTF-16 text"),
    ] {
        let error = text(bytes).unwrap_err();
        assert!(error.contains(what), "{what}: {error}");
    }
    let stray_nul = "OCN,Company\n0051,A\0B\n";
    assert_eq!(text(stray_nul.as_bytes()).unwrap(), stray_nul);
}

#[test]
fn zip_bomb_is_rejected_before_it_fills_memory() {
    let bomb = zip_file(&[("zeros", &vec![b'0'; 8 << 20])]);
    assert!(bomb.len() < 20_000, "{}", bomb.len());
    assert!(text(&bomb).unwrap_err().contains("a line is longer than 65536 bytes"));
}

#[test]
fn line_endings_are_normalized_to_lf() {
    for (content, expected) in
        [("", ""), ("a", "a\n"), ("a\r\n\r\nb\n", "a\n\nb\n"), ("a\r", "a\n"), ("a\rb", "a\rb\n")]
    {
        assert_eq!(text(content.as_bytes()).unwrap(), expected);
    }
}

#[test]
fn lines_may_have_65536_bytes_including_their_end() {
    let line = |bytes: usize| [&b"a".repeat(bytes - 1)[..], b"\n"].concat();
    let longest = line(65_536);
    assert_eq!(text(&[&longest[..], b"b\n"].concat()).unwrap().len(), longest.len() + 2);
    let error = text(&line(65_537)).unwrap_err();
    assert!(error.contains("a line is longer than 65536 bytes"), "{error}");
}

#[test]
fn lines_are_counted_and_a_fingerprint_describes_the_packed_file() {
    let packed = gzip_file(b"a\n\nb");
    let content = Content::new("a report".to_owned(), Box::new(Cursor::new(packed.clone())));
    let content = content.unwrap();
    let sha256: String = Sha256::digest(&packed).iter().map(|byte| format!("{byte:02x}")).collect();
    let expected = Fingerprint { bytes: packed.len() as u64, sha256 };
    assert_eq!(content.fingerprint, expected);
    let counted = std::cell::RefCell::new(Vec::new());
    let read = |reader: &mut dyn Read| {
        io::copy(reader, &mut io::sink()).map_err(|error| ReportError::new(error.to_string()))
    };
    content.read(|lines| counted.borrow_mut().push(lines), read).unwrap();
    assert_eq!(counted.into_inner(), [1, 2, 3]);
}

#[test]
fn text_is_utf16_if_a_quarter_of_it_is_nul() {
    let with_nuls =
        |nuls: usize, letters: usize| [&b"\0".repeat(nuls)[..], &b"a".repeat(letters)].concat();
    assert!(text(&with_nuls(100, 301)).is_ok());
    assert!(text(&with_nuls(100, 300)).unwrap_err().contains("UTF-16"));
}
