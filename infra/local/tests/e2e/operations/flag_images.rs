//! `tnr flags` writes the images for a bucket or a CDN.

use std::{collections::BTreeSet, fs, path::Path};

use tempfile::TempDir;

use crate::support::program::{program, stderr, stdout};

/// The files in a folder, by relative path.
fn files_below(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            found.extend(files_below(&entry.path()).iter().map(|file| format!("{name}/{file}")));
        } else {
            found.insert(name);
        }
    }
    found
}

#[test]
fn every_image_is_written_and_other_files_are_untouched() {
    let folder = TempDir::new().unwrap();
    let images = folder.path().join("new/flags");
    let written = stdout(&program(&["flags", images.to_str().unwrap()]).output().unwrap());
    assert!(written.starts_with("1,232 images of flags, version "), "{written}");
    assert!(written.contains("aws s3 sync "), "{written}");
    assert!(written.contains("--cache-control 'public, max-age=31536000, immutable'"), "{written}");
    let expected: BTreeSet<String> = flags::images().map(|(path, _)| path).collect();
    assert_eq!(files_below(&images), expected);

    let other = images.join("countries/other.txt");
    fs::write(&other, "of somebody else").unwrap();
    stdout(&program(&["flags", images.to_str().unwrap()]).output().unwrap());
    let us = images.join("countries/US.svg");
    fs::write(&us, "cut off").unwrap();
    let refused = program(&["flags", images.to_str().unwrap()]).output().unwrap();
    let expected = format!("error: {} already exists; pass --force to replace it\n", us.display());
    assert_eq!(stderr(&refused), expected);
    assert_eq!(fs::read_to_string(&us).unwrap(), "cut off");
    stdout(&program(&["flags", "--force", images.to_str().unwrap()]).output().unwrap());
    assert_eq!(fs::read_to_string(other).unwrap(), "of somebody else");
    for (path, image) in flags::images() {
        assert_eq!(fs::read(images.join(&path)).unwrap(), image.bytes, "{path}");
    }
}

#[test]
fn writing_images_to_a_file_is_refused() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("flags");
    fs::write(&file, "of somebody else").unwrap();
    let refused = program(&["flags", file.to_str().unwrap()]).output().unwrap();
    assert!(!refused.status.success());
    let expected =
        format!("error: '{}' is a file, not a folder; choose another path\n", file.display());
    assert_eq!(stderr(&refused), expected);
    assert_eq!(fs::read_to_string(file).unwrap(), "of somebody else");
}
