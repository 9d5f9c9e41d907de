//! The location of the data.

use std::{fmt, path::PathBuf};

use crate::{CliError, terminal::next_commands::NextCommands};

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

impl Place {
    /// The error for a location without a database.
    pub fn no_database(&self, next: &NextCommands) -> CliError {
        let what = match self {
            Self::Folder(_) => format!("{self} has no database"),
            Self::Endpoint(_) | Self::Stack(_) => format!("{self} has no tables for this service"),
        };
        self.no_data_error(&what, next)
    }

    /// The error for a database without a data version.
    pub fn no_data(&self, next: &NextCommands) -> CliError {
        self.no_data_error(&format!("{self} has no numbering data yet"), next)
    }

    /// Appends the commands that import data here.
    fn no_data_error(&self, what: &str, next: &NextCommands) -> CliError {
        let sample = match self {
            // Stacks are not served from here.
            Self::Stack(_) => None,
            Self::Endpoint(_) => Some("serve --sample"),
            Self::Folder(_) => Some("serve"),
        };
        let sample = sample
            .map(|serve| next.tnr(serve))
            .map_or(String::new(), |serve| format!(", or use sample data with '{serve}'"));
        let import = next.tnr("import --fetch");
        CliError::NoData(format!("{what}; import the published reports with '{import}'{sample}"))
    }
}
