//! The lock that limits a data folder to one writing process.

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

pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Locks the folder, and creates it if missing.
    ///
    /// # Errors
    /// Returns [`CliError::FolderServed`] if another process serves the folder, and
    /// [`CliError::FolderBusy`] if another command uses it.
    pub fn acquire(data_dir: &Path) -> Result<Self, CliError> {
        let folder = data_dir.display();
        data_folder::create(data_dir).context(format!("cannot use {folder}"))?;
        let file = private_file::open(&data_dir.join(LOCK_FILE))
            .context(format!("cannot write to {folder}"))?;
        let endpoint_file = data_dir.join(ENDPOINT_FILE);
        match file.try_lock() {
            Ok(()) => {
                // The process that wrote it has exited.
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
