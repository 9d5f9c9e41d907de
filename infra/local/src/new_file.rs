//! Files that have their name only once they are complete.

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// A file, or a folder of files, that is being made. If it is dropped before it is finished, what there
/// is of it is removed.
pub struct Unfinished {
    /// The name that it has until then, beside the one that it will have.
    path: PathBuf,
    name: PathBuf,
}

impl Unfinished {
    /// A file or folder that will have this name. Nothing is made yet.
    pub fn named(name: &Path) -> Self {
        // A link stays, and leads to the new file.
        let name = fs::canonicalize(name).unwrap_or_else(|_| name.to_owned());
        let mut path = OsString::from(&name);
        path.push(format!(".unfinished-{:016x}", rand::random::<u64>()));
        Self { path: path.into(), name }
    }

    /// Where it is until it is finished.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the file, with the permissions of the one that it will replace.
    ///
    /// # Errors
    /// Returns an error if it cannot be made.
    pub fn create(&self) -> io::Result<File> {
        let file = File::create_new(&self.path)?;
        if let Ok(replaced) = fs::metadata(&self.name) {
            file.set_permissions(replaced.permissions())?;
        }
        Ok(file)
    }

    /// Gives it its name, in place of a file that has it.
    ///
    /// # Errors
    /// Returns an error if it cannot be written to the disk or renamed, or if what has the name is no
    /// file.
    pub fn finish(self) -> io::Result<()> {
        if is_special(&self.name) {
            return Err(io::Error::other("it is no file that could be replaced"));
        }
        if self.path.is_file() {
            File::open(&self.path)?.sync_all()?;
        }
        fs::rename(&self.path, &self.name)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Of a finished one nothing has this name any more.
        _ = fs::remove_file(&self.path);
        _ = fs::remove_dir_all(&self.path);
    }
}

/// Whether something has the name that cannot be replaced by a file, such as `/dev/null` or a pipe.
pub fn is_special(name: &Path) -> bool {
    fs::metadata(name).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_its_name_only_once_it_is_finished() {
        let folder = tempfile::TempDir::new().unwrap();
        let name = folder.path().join("numbers.csv");
        fs::write(&name, "old").unwrap();
        let unfinished = Unfinished::named(&name);
        fs::write(unfinished.path(), "new").unwrap();
        assert_eq!(fs::read_to_string(&name).unwrap(), "old");
        unfinished.finish().unwrap();
        assert_eq!(fs::read_to_string(&name).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn nothing_is_left_of_a_file_or_folder_that_was_given_up() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = Unfinished::named(&folder.path().join("a"));
        file.create().unwrap();
        drop(file);
        let files = Unfinished::named(&folder.path().join("b"));
        fs::create_dir(files.path()).unwrap();
        fs::write(files.path().join("c"), "").unwrap();
        drop(files);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_leads_to_the_new_file_which_keeps_the_permissions() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = tempfile::TempDir::new().unwrap();
        let [name, link] = ["numbers.csv", "latest.csv"].map(|name| folder.path().join(name));
        fs::write(&name, "old").unwrap();
        fs::set_permissions(&name, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&name, &link).unwrap();
        let unfinished = Unfinished::named(&link);
        unfinished.create().unwrap();
        unfinished.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&name).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&name).unwrap().len(), 0);
        assert!(is_special(Path::new("/dev/null")) && !is_special(&name));
    }
}
