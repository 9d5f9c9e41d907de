//! The location of the data.

use std::{fmt, path::PathBuf};

/// The location set by options, environment and defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Stack(String),
    Endpoint(String),
    Folder(PathBuf),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stack(stack) => write!(f, "stack '{stack}'"),
            Self::Endpoint(url) => write!(f, "the database at {url}"),
            Self::Folder(folder) => write!(f, "folder '{}'", folder.display()),
        }
    }
}
