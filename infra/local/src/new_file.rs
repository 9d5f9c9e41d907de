//! Output files and folders. They appear only when complete, and replace nothing without
//! permission.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use clap::Args;
use tempfile::{Builder, NamedTempFile, TempDir, TempPath};

use crate::{CliError, database::data_folder::is_own_file, error::Cause};

/// Permission to replace a file.
#[derive(Debug, Clone, Copy, Args)]
pub struct Replacement {
    /// Replace existing output; never replaces the database or other files of a data folder
    #[arg(long)]
    pub force: bool,
}

/// A file or folder being written. Dropping it unfinished leaves nothing behind.
pub struct NewFile {
    /// The name as typed.
    shown: String,
    name: PathBuf,
    may_replace: bool,
    content: Content,
}

/// The place of unfinished output, next to its final name.
enum Content {
    File(TempPath),
    /// The parent of the unfinished folder.
    Folder(TempDir),
    /// A device or pipe, which is written in place.
    InPlace,
}

impl NewFile {
    /// A new file with this name, or an existing device or pipe. It gets the permissions of the
    /// file that it replaces.
    pub fn file(name: &Path, may_replace: bool) -> Result<Self, CliError> {
        Self::file_in(name, may_replace, |name| {
            let new = beside(name)?;
            if let Ok(replaced) = fs::metadata(name) {
                new.as_file().set_permissions(replaced.permissions())?;
            }
            Ok(new)
        })
    }

    /// A new file that only its owner can read.
    pub fn private_file(name: &Path, may_replace: bool) -> Result<Self, CliError> {
        Self::file_in(name, may_replace, |name| unfinished().tempfile_in(folder_of(name)))
    }

    fn file_in(
        name: &Path,
        may_replace: bool,
        create: impl FnOnce(&Path) -> io::Result<NamedTempFile>,
    ) -> Result<Self, CliError> {
        if name.is_dir() {
            return Err(CliError::IsFolder(name.display().to_string()));
        }
        Self::named(name, may_replace, |name| {
            create(name).map(|new| Content::File(new.into_temp_path()))
        })
    }

    /// A new folder with this name. In an existing folder, only files with the same names are
    /// replaced.
    pub fn folder(name: &Path, may_replace: bool) -> Result<Self, CliError> {
        if name.exists() && !name.is_dir() {
            return Err(CliError::NoFolder(name.display().to_string()));
        }
        Self::named(name, may_replace, |name| TempDir::new_in(folder_of(name)).map(Content::Folder))
    }

    fn named(
        name: &Path,
        may_replace: bool,
        create: impl FnOnce(&Path) -> io::Result<Content>,
    ) -> Result<Self, CliError> {
        let shown = name.display().to_string();
        // A link stays and points to the new file.
        let name = fs::canonicalize(name).unwrap_or_else(|_| name.to_owned());
        if is_own_file(&name) {
            return Err(CliError::OwnFile(shown));
        }
        if is_special(&name) {
            return Ok(Self { shown, name, may_replace, content: Content::InPlace });
        }
        if !may_replace && fs::symlink_metadata(&name).is_ok() {
            return Err(CliError::FileExists(shown));
        }
        let content = create(&name).map_err(unwritable(&shown))?;
        Ok(Self { shown, name, may_replace, content })
    }

    /// The path to write to. A folder has to be created there.
    pub fn path(&self) -> PathBuf {
        match &self.content {
            Content::File(file) => file.to_path_buf(),
            Content::Folder(parent) => parent.path().join("content"),
            Content::InPlace => self.name.clone(),
        }
    }

    /// Opens the file for writing.
    pub fn create(&self) -> Result<File, CliError> {
        File::options().write(true).open(self.path()).map_err(self.unwritable())
    }

    /// Syncs the output and gives it its name.
    pub fn finish(self) -> Result<(), CliError> {
        let (path, name) = (self.path(), &self.name);
        let named = match self.content {
            Content::InPlace => Ok(()),
            Content::Folder(_) => move_folder(&path, name, self.may_replace),
            Content::File(file) => {
                File::open(&path).and_then(|file| file.sync_all()).and_then(|()| {
                    let named = if self.may_replace {
                        file.persist(name)
                    } else {
                        file.persist_noclobber(name)
                    };
                    named.map_err(io::Error::from)
                })
            }
        };
        match named {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(CliError::FileExists(self.shown))
            }
            named => named.map_err(unwritable(&self.shown)),
        }
    }

    /// Makes a write error from a cause.
    pub fn unwritable<E: Into<Cause>>(&self) -> impl FnOnce(E) -> CliError + use<E> {
        unwritable(&self.shown)
    }
}

fn unwritable<E: Into<Cause>>(shown: &str) -> impl FnOnce(E) -> CliError + use<E> {
    CliError::io(format!("{shown} cannot be written"))
}

/// A builder of names that tell what a killed command left behind.
fn unfinished() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".tnr-unfinished-");
    builder
}

/// An unfinished file in the folder of `name`, with the usual permissions of new files.
pub fn beside(name: &Path) -> io::Result<NamedTempFile> {
    let mut builder = unfinished();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder_of(name))
}

fn folder_of(name: &Path) -> &Path {
    let parent = name.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Gives a folder its name, or moves its files to an existing folder.
fn move_folder(content: &Path, name: &Path, may_replace: bool) -> io::Result<()> {
    if !name.exists() {
        return fs::rename(content, name);
    }
    if !may_replace || !name.is_dir() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    for entry in fs::read_dir(content)? {
        let entry = entry?;
        fs::rename(entry.path(), name.join(entry.file_name()))?;
    }
    Ok(())
}

/// Returns `true` for a device or pipe such as `/dev/null`, which no file can replace.
fn is_special(name: &Path) -> bool {
    fs::metadata(name).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &TempDir) -> usize {
        fs::read_dir(folder.path()).unwrap().count()
    }

    #[test]
    fn unfinished_files_and_folders_leave_nothing_behind() {
        let folder = TempDir::new().unwrap();
        drop(NewFile::file(&folder.path().join("a"), false).unwrap());
        let files = NewFile::folder(&folder.path().join("b"), false).unwrap();
        fs::create_dir(files.path()).unwrap();
        fs::write(files.path().join("c"), "").unwrap();
        drop(files);
        assert_eq!(names_in(&folder), 0);
    }

    #[test]
    fn files_are_replaced_only_with_permission_and_when_finished() {
        let folder = TempDir::new().unwrap();
        let name = folder.path().join("numbers.csv");
        fs::write(&name, "old").unwrap();
        let refused = NewFile::file(&name, false).err().unwrap().to_string();
        let expected = format!("{} already exists; pass --force to replace it", name.display());
        assert_eq!(refused, expected);
        let new = NewFile::file(&name, true).unwrap();
        fs::write(new.path(), "new").unwrap();
        assert_eq!(fs::read_to_string(&name).unwrap(), "old");
        new.finish().unwrap();
        assert_eq!(fs::read_to_string(&name).unwrap(), "new");
        assert!(matches!(NewFile::file(folder.path(), true), Err(CliError::IsFolder(_))));

        let late = folder.path().join("late.csv");
        let new = NewFile::file(&late, false).unwrap();
        fs::write(&late, "of another command").unwrap();
        assert!(matches!(new.finish(), Err(CliError::FileExists(_))));
        assert_eq!(fs::read_to_string(&late).unwrap(), "of another command");
        assert_eq!(names_in(&folder), 2);
    }

    #[test]
    fn only_files_with_the_same_names_are_replaced_in_a_folder() {
        let folder = TempDir::new().unwrap();
        let name = folder.path().join("tables");
        fs::create_dir(&name).unwrap();
        fs::write(name.join("notes"), "mine").unwrap();
        fs::write(name.join("a.csv"), "old").unwrap();
        assert!(matches!(NewFile::folder(&name, false), Err(CliError::FileExists(_))));
        let new = NewFile::folder(&name, true).unwrap();
        fs::create_dir(new.path()).unwrap();
        fs::write(new.path().join("a.csv"), "new").unwrap();
        new.finish().unwrap();
        assert_eq!(fs::read_to_string(name.join("a.csv")).unwrap(), "new");
        assert_eq!(fs::read_to_string(name.join("notes")).unwrap(), "mine");
        assert_eq!(names_in(&folder), 1);
    }

    #[cfg(unix)]
    #[test]
    fn link_points_to_the_new_file_which_keeps_permissions() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let mode = |name: &Path| fs::metadata(name).unwrap().permissions().mode() & 0o777;
        let folder = TempDir::new().unwrap();
        let [name, link, usual] =
            ["numbers.csv", "latest.csv", "usual"].map(|name| folder.path().join(name));
        fs::write(&name, "old").unwrap();
        fs::set_permissions(&name, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&name, &link).unwrap();
        NewFile::file(&link, true).unwrap().finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!((mode(&name), fs::metadata(&name).unwrap().len()), (0o640, 0));
        NewFile::private_file(&name, true).unwrap().finish().unwrap();
        assert_eq!(mode(&name), 0o600);
        File::create(&usual).unwrap();
        let new = folder.path().join("new");
        NewFile::file(&new, false).unwrap().finish().unwrap();
        assert_eq!(mode(&new), mode(&usual));
        assert!(is_special(Path::new("/dev/null")) && !is_special(&name));
    }
}
