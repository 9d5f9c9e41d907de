//! Folders for unfinished output, next to its final name.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// The part of the folder's name between the output's name and random characters.
const INFIX: &str = ".unfinished-";
/// The number of random characters.
const RANDOM: usize = 16;
/// The unfinished file or folder.
const CONTENT: &str = "content";
/// Locked while a command uses the folder.
const LOCK: &str = "lock";

/// A folder for unfinished output, deleted with its contents on drop.
///
/// The system releases its lock even if the command is killed. So the next command that writes the
/// same name can tell leftovers from work in progress.
pub struct Staging {
    folder: TempDir,
    _lock: File,
}

impl Staging {
    /// Creates a staging folder next to `name`, and removes leftovers there.
    pub fn beside(name: &Path) -> io::Result<Self> {
        let parent = match name.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut start = name.file_name().unwrap_or_default().to_owned();
        start.push(INFIX);
        remove_leftovers(parent, &start);
        let folder =
            tempfile::Builder::new().prefix(&start).rand_bytes(RANDOM).tempdir_in(parent)?;
        let lock = File::create_new(folder.path().join(LOCK))?;
        // Leftovers stay on file systems without locks.
        _ = lock.try_lock();
        Ok(Self { folder, _lock: lock })
    }

    /// The output's path until it is finished.
    pub fn content(&self) -> PathBuf {
        self.folder.path().join(CONTENT)
    }
}

/// Removes staging folders with this prefix that no command uses.
fn remove_leftovers(parent: &Path, start: &OsStr) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let random = name.as_encoded_bytes().strip_prefix(start.as_encoded_bytes());
        let is_staging =
            random.is_some_and(|it| it.len() == RANDOM && it.iter().all(u8::is_ascii_alphanumeric));
        if is_staging && is_abandoned(&entry.path()) {
            _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_abandoned(folder: &Path) -> bool {
    let lock = File::options().write(true).open(folder.join(LOCK));
    lock.is_ok_and(|lock| lock.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_removed_unless_in_use() {
        let folder = tempfile::TempDir::new().unwrap();
        let [name, other] = ["a.csv", "b.csv"].map(|name| folder.path().join(name));
        let abandon = |name: &Path| {
            let staging = Staging::beside(name).unwrap();
            fs::write(staging.content(), "half").unwrap();
            let abandoned = staging.folder.path().to_owned();
            // Simulates a killed process: the lock is free, and nothing was removed.
            staging._lock.unlock().unwrap();
            std::mem::forget(staging);
            abandoned
        };
        let (leftover, of_other) = (abandon(&name), abandon(&other));
        let at_work = Staging::beside(&name).unwrap();
        assert!(!leftover.exists() && of_other.exists());
        drop(Staging::beside(&name).unwrap());
        assert!(at_work.folder.path().exists());
        drop(at_work);
        let foreign = folder.path().join("a.csv.unfinished-notes");
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join(LOCK), "").unwrap();
        drop(Staging::beside(&name).unwrap());
        assert!(foreign.exists(), "a folder of somebody else stays");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
