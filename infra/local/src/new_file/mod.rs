//! Output files and folders. They appear only when complete, and replace nothing without
//! permission.

mod staging;

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use clap::Args;

pub use staging::Staging;

use crate::{CliError, database::data_folder::is_own_file};

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
    /// Absent for a device or pipe, which is written in place.
    staging: Option<Staging>,
}

impl NewFile {
    /// A new file with this name, or an existing device or pipe.
    pub fn file(name: &Path, may_replace: bool) -> Result<Self, CliError> {
        if name.is_dir() {
            return Err(CliError::IsFolder(name.display().to_string()));
        }
        Self::named(name, may_replace)
    }

    /// A new folder with this name. In an existing folder, only files with the same names are
    /// replaced.
    pub fn folder(name: &Path, may_replace: bool) -> Result<Self, CliError> {
        if name.exists() && !name.is_dir() {
            return Err(CliError::NoFolder(name.display().to_string()));
        }
        Self::named(name, may_replace)
    }

    fn named(name: &Path, may_replace: bool) -> Result<Self, CliError> {
        let shown = name.display().to_string();
        // A link stays and points to the new file.
        let name = fs::canonicalize(name).unwrap_or_else(|_| name.to_owned());
        if is_own_file(&name) {
            return Err(CliError::OwnFile(shown));
        }
        if is_special(&name) {
            return Ok(Self { shown, name, may_replace, staging: None });
        }
        if !may_replace && fs::symlink_metadata(&name).is_ok() {
            return Err(CliError::FileExists(shown));
        }
        let staging = Staging::beside(&name).map_err(unwritable(&shown))?;
        Ok(Self { shown, name, may_replace, staging: Some(staging) })
    }

    /// The path to write to.
    pub fn path(&self) -> PathBuf {
        self.staging.as_ref().map_or_else(|| self.name.clone(), Staging::content)
    }

    /// Creates the file with the permissions of the one it replaces, or opens the device or pipe.
    pub fn create(&self) -> Result<File, CliError> {
        let created = match &self.staging {
            Some(staging) => File::create_new(staging.content()).and_then(|file| {
                if let Ok(replaced) = fs::metadata(&self.name) {
                    file.set_permissions(replaced.permissions())?;
                }
                Ok(file)
            }),
            None => File::options().write(true).open(&self.name),
        };
        created.map_err(self.unwritable())
    }

    /// Syncs the output and gives it its name.
    pub fn finish(self) -> Result<(), CliError> {
        let Some(staging) = &self.staging else { return Ok(()) };
        match give_name(&staging.content(), &self.name, self.may_replace) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(CliError::FileExists(self.shown))
            }
            given => given.map_err(self.unwritable()),
        }
    }

    /// Makes a write error from a cause.
    pub fn unwritable<E: Into<crate::error::Cause>>(&self) -> impl FnOnce(E) -> CliError + use<E> {
        unwritable(&self.shown)
    }
}

fn unwritable<E: Into<crate::error::Cause>>(shown: &str) -> impl FnOnce(E) -> CliError + use<E> {
    CliError::io(format!("{shown} cannot be written"))
}

fn give_name(content: &Path, name: &Path, may_replace: bool) -> io::Result<()> {
    if content.is_dir() {
        return if may_replace && name.is_dir() {
            move_files(content, name)
        } else if name.exists() {
            Err(ErrorKind::AlreadyExists.into())
        } else {
            fs::rename(content, name)
        };
    }
    File::open(content)?.sync_all()?;
    if may_replace {
        return fs::rename(content, name);
    }
    // A rename would replace a file created meanwhile; a hard link does not.
    match fs::hard_link(content, name) {
        // Some file systems have no hard links.
        Err(error) if error.kind() != ErrorKind::AlreadyExists && !name.exists() => {
            fs::rename(content, name)
        }
        linked => linked,
    }
}

/// Moves a folder's files to another folder, replacing files with the same names.
fn move_files(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::rename(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Returns `true` for a device or pipe such as `/dev/null`, which no file can replace.
fn is_special(name: &Path) -> bool {
    fs::metadata(name).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn write(name: &Path, may_replace: bool, text: &str) -> Result<(), CliError> {
        let new = NewFile::file(name, may_replace)?;
        fs::write(new.path(), text).unwrap();
        new.finish()
    }

    fn count_in(folder: &TempDir) -> usize {
        fs::read_dir(folder.path()).unwrap().count()
    }

    #[test]
    fn unfinished_files_and_folders_leave_nothing_behind() {
        let folder = TempDir::new().unwrap();
        let file = NewFile::file(&folder.path().join("a"), false).unwrap();
        file.create().unwrap();
        drop(file);
        let files = NewFile::folder(&folder.path().join("b"), false).unwrap();
        fs::create_dir(files.path()).unwrap();
        fs::write(files.path().join("c"), "").unwrap();
        drop(files);
        assert_eq!(count_in(&folder), 0);
    }

    #[test]
    fn files_are_replaced_only_with_permission_and_when_finished() {
        let folder = TempDir::new().unwrap();
        let name = folder.path().join("numbers.csv");
        fs::write(&name, "old").unwrap();
        let refused = write(&name, false, "new").unwrap_err().to_string();
        let expected = format!("{} already exists; pass --force to replace it", name.display());
        assert_eq!(refused, expected);
        let new = NewFile::file(&name, true).unwrap();
        fs::write(new.path(), "new").unwrap();
        assert_eq!(fs::read_to_string(&name).unwrap(), "old");
        new.finish().unwrap();
        assert_eq!(fs::read_to_string(&name).unwrap(), "new");
        assert!(matches!(write(folder.path(), true, ""), Err(CliError::IsFolder(_))));

        let late = folder.path().join("late.csv");
        let new = NewFile::file(&late, false).unwrap();
        fs::write(new.path(), "new").unwrap();
        fs::write(&late, "of another command").unwrap();
        assert!(matches!(new.finish(), Err(CliError::FileExists(_))));
        assert_eq!(fs::read_to_string(&late).unwrap(), "of another command");
        assert_eq!(count_in(&folder), 2);
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
        assert_eq!(count_in(&folder), 1);
    }

    #[test]
    fn own_files_of_a_data_folder_are_never_replaced() {
        let folder = TempDir::new().unwrap();
        let name = folder.path().join("dynamodb.sqlite");
        write(&name, false, "a backup").unwrap();
        for own in ["dynamodb.sqlite", "dynamodb.sqlite-wal", "dynamodb.env", "api-key", "lock"] {
            let refused = write(&folder.path().join(own), true, "").unwrap_err();
            assert!(matches!(refused, CliError::OwnFile(_)), "{own}");
        }
        write(&folder.path().join("numbers.csv"), false, "").unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn link_points_to_the_new_file_which_keeps_permissions() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = TempDir::new().unwrap();
        let [name, link] = ["numbers.csv", "latest.csv"].map(|name| folder.path().join(name));
        fs::write(&name, "old").unwrap();
        fs::set_permissions(&name, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&name, &link).unwrap();
        let new = NewFile::file(&link, true).unwrap();
        new.create().unwrap();
        new.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&name).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&name).unwrap().len(), 0);
        assert!(is_special(Path::new("/dev/null")) && !is_special(&name));
    }
}
