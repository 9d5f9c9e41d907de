use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::*;

fn zip_file(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, content) in files {
        let compressed = content.len() > 1 << 20;
        let options = if compressed { SimpleFileOptions::default() } else { stored };
        if name.ends_with('/') {
            writer.add_directory(*name, options).unwrap();
        } else {
            writer.start_file(*name, options).unwrap();
            writer.write_all(content).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

fn gzip_file(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn text(bytes: &[u8]) -> Result<String, String> {
    let content = Content::new("a report".to_owned(), bytes.to_vec().into());
    let report = content.and_then(Content::into_report).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(report).unwrap())
}

#[test]
fn archives_are_unpacked_and_text_gets_a_trailing_newline() {
    let longest = "a".repeat(65_535) + "\n";
    // Files that macOS adds are ignored.
    let mac: [(&str, &[u8]); 4] = [
        ("reports/", b""),
        ("reports/a.txt", b"text"),
        ("__MACOSX/reports/._a.txt", b"Mac OS X"),
        ("__MACOSX/reports/a.txt", b"Mac OS X"),
    ];
    for (bytes, expected) in [
        (&zip_file(&[("a.txt", b"text")])[..], "text\n"),
        (&gzip_file(b"text"), "text\n"),
        (&zip_file(&mac), "text\n"),
        (b"a\r\nb\n", "a\r\nb\n\n"),
        (longest.as_bytes(), &(longest.clone() + "\n")),
    ] {
        assert_eq!(text(bytes).unwrap(), expected);
    }
}

#[test]
fn damaged_archives_and_files_that_are_not_reports_are_rejected() {
    let rows = b"OCN,Company\n0051,A\n".repeat(10);
    let zip = zip_file(&[("a.csv", &rows)]);
    let mut flipped_zip = zip.clone();
    flipped_zip[60] ^= 0x20;
    let gzip = gzip_file(&rows);
    let mut wrong_checksum = gzip.clone();
    wrong_checksum[gzip.len() - 8] ^= 1;
    // Unpacking it would use up the memory.
    let bomb = zip_file(&[("zeros", &vec![b'0'; MAX_BYTES + 1])]);
    for (bytes, expected) in [
        (&bomb[..], "its files are larger than 134217728 bytes"),
        (&zip[..zip.len() / 2], "the zip is damaged or truncated"),
        (&gzip[..gzip.len() - 4], "unexpected end of file"),
        (&flipped_zip, "Invalid checksum"),
        (&wrong_checksum, "corrupt gzip stream does not have a matching checksum"),
        (
            &zip_file(&[("a.txt", b""), ("b.txt", b"")]),
            "the zip has 2 files; it must have exactly one",
        ),
        (&zip_file(&[]), "the zip has 0 files"),
        (b"<!DOCTYPE html>", "it is a web page, not a report"),
        ("\u{feff}\r\n <html>".as_bytes(), "it is a web page"),
        (&zip_file(&[("a.txt", b"<html>")]), "it is a web page"),
        (&[b'a'; 65_537], "a line is longer than 65536 bytes"),
    ] {
        let error = text(bytes).unwrap_err();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}
