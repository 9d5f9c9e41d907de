//! Writes the images of flags into a folder, for a bucket or a CDN.

use std::{fs, path::Path, process};

use indicatif::{HumanCount, ProgressBar};

use crate::{LocalError, args::FlagsArgs};

/// Writes every image below the folder, by the path that answers have after `FLAGS_BASE_URL`. What else
/// is in the folder stays there.
///
/// # Errors
/// Returns an error if the folder is a file, or cannot be written.
pub fn write(args: &FlagsArgs) -> Result<(), LocalError> {
    let folder = args.folder.as_path();
    if folder.exists() && !folder.is_dir() {
        return Err(LocalError::NoFolder(folder.display().to_string()));
    }
    let images = flags::images();
    let count = images.len();
    let bar = ProgressBar::new(count as u64);
    let unfinished = folder.join(format!(".unfinished-{}", process::id()));
    for (path, image) in images {
        write_image(&folder.join(path), &image.bytes, &unfinished)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    println!("{}", conclusion(folder, count));
    Ok(())
}

/// Writes a file that has its name only once it is complete.
fn write_image(file: &Path, bytes: &[u8], unfinished: &Path) -> Result<(), LocalError> {
    let failed = || LocalError::io(format!("cannot write {}", file.display()));
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(failed())?;
    }
    let written = fs::write(unfinished, bytes).and_then(|()| fs::rename(unfinished, file));
    written.map_err(|error| {
        // Nothing can be made of a part of an image.
        _ = fs::remove_file(unfinished);
        failed()(error)
    })
}

/// What was written, and what to do with it.
fn conclusion(folder: &Path, count: usize) -> String {
    let (folder, version) = (folder.display(), flags::VERSION);
    format!(
        "{count} images of flags, version {version}, are in {folder}. To have clients fetch them from a bucket:\n\n  \
         aws s3 sync {folder} s3://BUCKET/flags/{version} \
         --cache-control 'public, max-age=31536000, immutable'\n\n\
         and set FlagsBaseUrl or FLAGS_BASE_URL to the address of flags/{version} there.",
        count = HumanCount(count as u64),
    )
}
