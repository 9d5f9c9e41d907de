//! The lock by which one process at a time writes into a data folder.

use std::{
    fs::{self, File, TryLockError},
    path::Path,
};

use crate::{
    CliError,
    database::{
        data_folder::{self, ENDPOINT_FILE, LOCK_FILE},
        private_file,
    },
    error::Context,
};

/// Keeps a second process from writing into the folder of an embedded database.
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the lock of the folder, which is made if it does not exist.
    ///
    /// # Errors
    /// Returns [`CliError::FolderServed`] if another process serves the folder and
    /// [`CliError::FolderBusy`] if one uses it for itself.
    pub fn take(data_dir: &Path) -> Result<Self, CliError> {
        let folder = data_dir.display();
        data_folder::create(data_dir).context(format!("cannot use {folder}"))?;
        let file = private_file::open(&data_dir.join(LOCK_FILE))
            .context(format!("cannot write into {folder}"))?;
        let endpoint_file = data_dir.join(ENDPOINT_FILE);
        match file.try_lock() {
            Ok(()) => {
                // The process that wrote it has ended.
                _ = fs::remove_file(&endpoint_file);
                Ok(Self { _file: file })
            }
            Err(TryLockError::WouldBlock) => {
                let folder = folder.to_string();
                Err(match fs::read_to_string(endpoint_file) {
                    Ok(endpoint) => CliError::FolderServed { folder, endpoint },
                    Err(_) => CliError::FolderBusy(folder),
                })
            }
            Err(TryLockError::Error(error)) => {
                Err(CliError::io(format!("cannot lock {folder}"))(error))
            }
        }
    }
}
