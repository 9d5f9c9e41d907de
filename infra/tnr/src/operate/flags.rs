//! The `flags` command.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use indicatif::HumanCount;

use crate::{
    CliError,
    new_file::{Replacement, new_sibling},
    terminal::{
        progress::{Progress, Unit},
        show_message,
    },
};

#[derive(Debug, Args)]
pub struct FlagsArgs {
    /// Folder to write to, created if missing
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub replacement: Replacement,
}

/// Writes every image to the folder, at the path that responses append to `FLAGS_BASE_URL`.
pub fn write(args: &FlagsArgs) -> Result<(), CliError> {
    let folder = args.folder.as_path();
    if folder.exists() && !folder.is_dir() {
        return Err(CliError::NotAFolder(folder.display().to_string()));
    }
    if !args.replacement.force {
        reject_other_files(folder)?;
    }
    let images = flags::images();
    let count = images.len();
    let progress = Progress::beside_output(false);
    progress.start("Writing", Unit::Count("images"), Some(count as u64));
    for (path, image) in images {
        write_image(&folder.join(path), &image.bytes)?;
        progress.add(1);
    }
    drop(progress);
    show_message(&next_steps(folder, count));
    Ok(())
}

/// Returns an error if a different file exists at an image's path.
fn reject_other_files(folder: &Path) -> Result<(), CliError> {
    for (path, image) in flags::images() {
        let file = folder.join(path);
        if file.exists() && !fs::read(&file).is_ok_and(|bytes| bytes == *image.bytes) {
            return Err(CliError::FileExists(file.display().to_string()));
        }
    }
    Ok(())
}

/// Writes a file that appears only once it is complete.
fn write_image(file: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let failed = || CliError::io(format!("cannot write {}", file.display()));
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(failed())?;
    }
    let mut new = new_sibling(file).map_err(failed())?;
    new.write_all(bytes).map_err(failed())?;
    new.persist(file).map(drop).map_err(|error| failed()(error.error))
}

fn next_steps(folder: &Path, count: usize) -> String {
    let (folder, version) = (folder.display(), flags::VERSION);
    format!(
        "Wrote {count} flag images (version {version}) to {folder}. To serve them from a bucket:\n\n  \
         aws s3 sync {folder} s3://BUCKET/flags/{version} \
         --cache-control 'public, max-age=31536000, immutable'\n\n\
         Then set FlagsBaseUrl or FLAGS_BASE_URL to the bucket's URL plus /flags/{version}.",
        count = HumanCount(count as u64),
    )
}
