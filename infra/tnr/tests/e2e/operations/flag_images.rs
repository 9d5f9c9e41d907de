//! `tnr flags` writes the images for a bucket or a CDN.

use std::{collections::BTreeMap, fs, path::Path};

use tempfile::TempDir;

use crate::support::program::{program, stderr, stdout};

fn files_below(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            let files = files_below(&path).into_iter();
            found.extend(files.map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else {
            found.insert(name.to_owned(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn every_image_is_written_and_other_files_are_untouched() {
    let folder = TempDir::new().unwrap();
    let images = folder.path().join("new/flags");
    let written = stdout(&program(&["flags", images.to_str().unwrap()]).output().unwrap());
    assert!(written.starts_with("Wrote 1,232 flag images (version "), "{written}");
    assert!(written.contains("--cache-control 'public, max-age=31536000, immutable'"), "{written}");
    let mut expected: BTreeMap<String, Vec<u8>> =
        flags::images().map(|(path, image)| (path, image.bytes)).collect();
    assert!(files_below(&images) == expected);

    let other = images.join("countries/other.txt");
    fs::write(&other, "somebody else's").unwrap();
    stdout(&program(&["flags", images.to_str().unwrap()]).output().unwrap());
    let us = images.join("countries/US.svg");
    fs::write(&us, "cut off").unwrap();
    let rejected = program(&["flags", images.to_str().unwrap()]).output().unwrap();
    let message = format!("error: {} already exists; pass --force to replace it\n", us.display());
    assert_eq!(stderr(&rejected), message);
    assert_eq!(fs::read_to_string(&us).unwrap(), "cut off");
    stdout(&program(&["flags", "--force", images.to_str().unwrap()]).output().unwrap());
    expected.insert("countries/other.txt".to_owned(), b"somebody else's".to_vec());
    assert!(files_below(&images) == expected);
}
