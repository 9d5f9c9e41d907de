//! The `flags` command.

use std::{fs, io::Write, path::Path};

use indicatif::{HumanCount, ProgressBar};

use crate::{CliError, new_file::beside, operate::args::FlagsArgs};

/// Writes every image below the folder, at the path that responses append to `FLAGS_BASE_URL`.
/// Other files stay.
pub fn write(args: &FlagsArgs) -> Result<(), CliError> {
    let folder = args.folder.as_path();
    if folder.exists() && !folder.is_dir() {
        return Err(CliError::NoFolder(folder.display().to_string()));
    }
    if !args.replacement.force {
        refuse_other_files(folder)?;
    }
    let images = flags::images();
    let count = images.len();
    let bar = ProgressBar::new(count as u64);
    for (path, image) in images {
        write_image(&folder.join(path), &image.bytes)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    println!("{}", conclusion(folder, count));
    Ok(())
}

/// Refuses to replace other files that have an image's name.
fn refuse_other_files(folder: &Path) -> Result<(), CliError> {
    for (path, image) in flags::images() {
        let file = folder.join(path);
        if file.exists() && !fs::read(&file).is_ok_and(|bytes| bytes == *image.bytes) {
            return Err(CliError::FileExists(file.display().to_string()));
        }
    }
    Ok(())
}

/// Writes a file that appears only when complete.
fn write_image(file: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let failed = || CliError::io(format!("{} cannot be written", file.display()));
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(failed())?;
    }
    let mut new = beside(file).map_err(failed())?;
    new.write_all(bytes).map_err(failed())?;
    new.persist(file).map(drop).map_err(|error| failed()(error.error))
}

/// The closing message: what was written, and what to do with it.
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
