//! Folders that hold an unfinished output, beside the name that it will have.

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// The part of such a folder's name between that of the output and some random digits.
const INFIX: &str = ".unfinished-";
/// The number of those digits.
const DIGITS: usize = 16;
/// The unfinished file or folder.
const CONTENT: &str = "content";
/// A file that is locked while a command is at work in the folder.
const LOCK: &str = "lock";

/// A folder for an unfinished file or folder. It is removed with all that is in it when it is dropped.
///
/// The system frees its lock even if the command is killed, so that the next command that writes the
/// same name can tell such a leftover from the work of another one.
pub struct Staging {
    folder: PathBuf,
    _lock: File,
}

impl Staging {
    /// Makes such a folder beside `name`, and removes the leftovers there.
    pub fn beside(name: &Path) -> io::Result<Self> {
        remove_leftovers(name);
        let mut folder = OsString::from(name);
        folder.push(format!("{INFIX}{:0DIGITS$x}", rand::random::<u64>()));
        let folder = PathBuf::from(folder);
        fs::create_dir(&folder)?;
        let lock = File::create_new(folder.join(LOCK))?;
        // Some file systems have no locks. There, a leftover stays.
        _ = lock.try_lock();
        Ok(Self { folder, _lock: lock })
    }

    /// The path of the output until it is finished.
    pub fn content(&self) -> PathBuf {
        self.folder.join(CONTENT)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // The content of a finished output has another name by now.
        _ = fs::remove_dir_all(&self.folder);
    }
}

/// Removes the folders beside `name` in which no command is at work.
fn remove_leftovers(name: &Path) {
    let (Some(parent), Some(file_name)) = (name.parent(), name.file_name()) else { return };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let mut start = file_name.to_owned();
    start.push(INFIX);
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let digits = name.as_encoded_bytes().strip_prefix(start.as_encoded_bytes());
        let is_staging =
            digits.is_some_and(|it| it.len() == DIGITS && it.iter().all(u8::is_ascii_hexdigit));
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
    fn leftovers_of_the_same_name_are_removed_unless_a_command_is_at_work() {
        let folder = tempfile::TempDir::new().unwrap();
        let [name, other] = ["a.csv", "b.csv"].map(|name| folder.path().join(name));
        let abandon = |name: &Path| {
            let staging = Staging::beside(name).unwrap();
            fs::write(staging.content(), "half").unwrap();
            let abandoned = staging.folder.clone();
            // As if the process had been killed: its lock is free, and nothing was removed.
            staging._lock.unlock().unwrap();
            std::mem::forget(staging);
            abandoned
        };
        let (leftover, of_other) = (abandon(&name), abandon(&other));
        let at_work = Staging::beside(&name).unwrap();
        assert!(!leftover.exists() && of_other.exists());
        drop(Staging::beside(&name).unwrap());
        assert!(at_work.folder.exists());
        drop(at_work);
        let foreign = folder.path().join("a.csv.unfinished-notes");
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join(LOCK), "").unwrap();
        drop(Staging::beside(&name).unwrap());
        assert!(foreign.exists(), "a folder of somebody else stays");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
