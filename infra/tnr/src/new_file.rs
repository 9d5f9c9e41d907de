//! Output files and folders. They appear only once they are complete, and replace existing ones only if
//! `--force` is set.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use clap::Args;
use tempfile::{Builder, NamedTempFile, TempDir, TempPath};

use crate::{CliError, database::data_folder::is_data_folder_file, error::Cause};

#[derive(Debug, Clone, Copy, Args)]
pub struct Replacement {
    /// Replace existing output, except the files in a data folder
    #[arg(long)]
    pub force: bool,
}

/// An unfinished file or folder. If dropped, it is removed.
pub struct NewFile {
    /// The path as entered by the user, for messages.
    display_path: String,
    target: PathBuf,
    may_replace: bool,
    content: Content,
}

/// Unfinished output, stored next to its final path.
enum Content {
    File(TempPath),
    /// The unfinished folder's temporary parent.
    Folder(TempDir),
    /// A device or pipe, which is written directly.
    InPlace,
}

/// The kind of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file with the same permissions as the file that it replaces.
    File,
    /// A file that only the owner can read.
    Private,
    /// A folder. In an existing folder, only files with the same names are replaced.
    Folder,
}

impl NewFile {
    pub fn create(path: &Path, kind: Kind, may_replace: bool) -> Result<Self, CliError> {
        let display_path = path.display().to_string();
        match kind {
            Kind::Folder if path.exists() && !path.is_dir() => {
                return Err(CliError::NotAFolder(display_path));
            }
            Kind::File | Kind::Private if path.is_dir() => {
                return Err(CliError::IsFolder(display_path));
            }
            _ => (),
        }
        // Follow a symbolic link, so that its target is replaced instead.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if is_data_folder_file(&target) {
            return Err(CliError::DataFolderFile(display_path));
        }
        if !is_special(&target) && !may_replace && fs::symlink_metadata(&target).is_ok() {
            return Err(CliError::FileExists(display_path));
        }
        let content = Content::new(&target, kind).map_err(unwritable(&display_path))?;
        Ok(Self { display_path, target, may_replace, content })
    }

    /// The path to write to. For a folder, the caller must create it there.
    pub fn path(&self) -> PathBuf {
        match &self.content {
            Content::File(file) => file.to_path_buf(),
            Content::Folder(parent) => parent.path().join("content"),
            Content::InPlace => self.target.clone(),
        }
    }

    pub fn open(&self) -> Result<File, CliError> {
        File::options().write(true).open(self.path()).map_err(self.unwritable())
    }

    /// Syncs a file to disk, and moves the output to its final path.
    pub fn finish(self) -> Result<(), CliError> {
        let (path, target) = (self.path(), &self.target);
        let moved = match self.content {
            Content::InPlace => Ok(()),
            Content::Folder(_) => move_folder(&path, target, self.may_replace),
            Content::File(file) => {
                File::open(&path).and_then(|file| file.sync_all()).and_then(|()| {
                    let moved = if self.may_replace {
                        file.persist(target)
                    } else {
                        file.persist_noclobber(target)
                    };
                    moved.map_err(io::Error::from)
                })
            }
        };
        match moved {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(CliError::FileExists(self.display_path))
            }
            moved => moved.map_err(unwritable(&self.display_path)),
        }
    }

    pub fn unwritable<E: Into<Cause>>(&self) -> impl FnOnce(E) -> CliError + use<E> {
        unwritable(&self.display_path)
    }
}

impl Content {
    fn new(target: &Path, kind: Kind) -> io::Result<Self> {
        Ok(match kind {
            _ if is_special(target) => Self::InPlace,
            Kind::Folder => Self::Folder(TempDir::new_in(parent_of(target))?),
            Kind::Private => {
                Self::File(temp_file_builder().tempfile_in(parent_of(target))?.into_temp_path())
            }
            Kind::File => {
                let new = new_sibling(target)?;
                if let Ok(replaced) = fs::metadata(target) {
                    new.as_file().set_permissions(replaced.permissions())?;
                }
                Self::File(new.into_temp_path())
            }
        })
    }
}

fn unwritable<E: Into<Cause>>(display_path: &str) -> impl FnOnce(E) -> CliError + use<E> {
    CliError::io(format!("cannot write {display_path}"))
}

/// A builder for temporary file names that identify leftovers from a killed command.
fn temp_file_builder() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".tnr-unfinished-");
    builder
}

/// Creates a temporary file in the same folder as `path`, with default permissions.
pub fn new_sibling(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = temp_file_builder();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(parent_of(path))
}

fn parent_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Moves a folder to its final path, or its files into an existing folder.
fn move_folder(content: &Path, target: &Path, may_replace: bool) -> io::Result<()> {
    if !target.exists() {
        return fs::rename(content, target);
    }
    if !may_replace || !target.is_dir() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    for entry in fs::read_dir(content)? {
        let entry = entry?;
        fs::rename(entry.path(), target.join(entry.file_name()))?;
    }
    Ok(())
}

fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sessions `files` and `export` test the other rules.
    #[test]
    fn files_created_in_the_meantime_are_not_replaced() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("late.csv");
        let new = NewFile::create(&path, Kind::File, false).unwrap();
        fs::write(&path, "from another command").unwrap();
        assert!(matches!(new.finish(), Err(CliError::FileExists(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "from another command");
        let unfinished =
            NewFile::create(&folder.path().join("tables"), Kind::Folder, false).unwrap();
        fs::create_dir(unfinished.path()).unwrap();
        drop(unfinished);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing unfinished is left");
    }
}
