//! The location of the data, and the options that set it.

use std::{
    env,
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
};

use clap::Args;
use etcetera::{BaseStrategy, base_strategy::choose_native_strategy};

use crate::{CliError, error::Context, terminal::NextCommands};

const DATA_DIR_VARIABLE: &str = "TNR_DATA_DIR";
const ENDPOINT_URL_VARIABLE: &str = "TNR_ENDPOINT_URL";

/// The embedded DynamoDB's folder.
// clap does not read the environment variables, so explicit options stay distinguishable: they take precedence, and
// suggested commands repeat them.
#[derive(Debug, Clone, Args)]
pub struct FolderArgs {
    /// Folder for the embedded database [default: your data folder] [env: TNR_DATA_DIR]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub struct DatabaseArgs {
    #[command(flatten)]
    folder: FolderArgs,
    /// URL of DynamoDB or a compatible database to use instead of the embedded one [env:
    /// TNR_ENDPOINT_URL]
    #[arg(long, value_name = "URL", value_parser = endpoint_url)]
    endpoint_url: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub struct DataArgs {
    /// Use this deployed stack's tables; region and credentials come from the environment
    #[arg(long, value_name = "NAME", conflicts_with_all = ["endpoint_url", "data_dir"])]
    pub stack: Option<String>,
    #[command(flatten)]
    pub database: DatabaseArgs,
}

impl FolderArgs {
    /// The folder from the option, from the environment, or by default.
    pub fn path(&self) -> Result<PathBuf, CliError> {
        match self.data_dir.clone().or_else(|| env_value(DATA_DIR_VARIABLE).map(PathBuf::from)) {
            Some(folder) => Ok(folder),
            None => user_folder(),
        }
    }

    pub fn next(&self) -> NextCommands {
        NextCommands::with_options(self.data_dir.iter().map(|folder| ("--data-dir", text(folder))))
    }
}

impl DatabaseArgs {
    pub fn folder(&self) -> Result<PathBuf, CliError> {
        self.folder.path()
    }

    /// The URL of a database that replaces the embedded one. A folder given as an option takes precedence over
    /// the environment.
    pub fn endpoint_url(&self) -> Result<Option<String>, CliError> {
        if self.endpoint_url.is_some() || self.folder.data_dir.is_some() {
            return Ok(self.endpoint_url.clone());
        }
        let Some(url) = env_value(ENDPOINT_URL_VARIABLE) else { return Ok(None) };
        let url = url.to_string_lossy();
        endpoint_url(&url).map(Some).map_err(|rule| {
            CliError::failed(format!("{ENDPOINT_URL_VARIABLE} {rule}, got '{url}'"))
        })
    }

    pub fn location(&self) -> Result<DatabaseLocation, CliError> {
        match self.endpoint_url()? {
            Some(url) => Ok(DatabaseLocation::Endpoint(url)),
            None => self.folder().map(DatabaseLocation::Folder),
        }
    }

    pub fn next(&self) -> NextCommands {
        let endpoint = self.endpoint_url.iter().map(|url| ("--endpoint-url", url.clone()));
        let folder = self.folder.data_dir.iter().map(|folder| ("--data-dir", text(folder)));
        NextCommands::with_options(endpoint.chain(folder))
    }
}

impl DataArgs {
    pub fn location(&self) -> Result<DatabaseLocation, CliError> {
        match &self.stack {
            Some(stack) => Ok(DatabaseLocation::Stack(stack.clone())),
            None => self.database.location(),
        }
    }

    pub fn is_explicit(&self) -> bool {
        let DatabaseArgs { folder, endpoint_url } = &self.database;
        self.stack.is_some() || endpoint_url.is_some() || folder.data_dir.is_some()
    }

    pub fn next(&self) -> NextCommands {
        match &self.stack {
            Some(stack) => NextCommands::with_options([("--stack", stack.clone())]),
            None => self.database.next(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseLocation {
    Stack(String),
    Endpoint(String),
    Folder(PathBuf),
}

impl fmt::Display for DatabaseLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stack(stack) => write!(f, "stack '{stack}'"),
            Self::Endpoint(url) => write!(f, "the database at {url}"),
            Self::Folder(folder) => write!(f, "folder '{}'", folder.display()),
        }
    }
}

impl DatabaseLocation {
    pub fn no_database(&self, next: &NextCommands) -> CliError {
        let what = match self {
            Self::Folder(_) => format!("{self} has no database"),
            Self::Endpoint(_) | Self::Stack(_) => format!("{self} has no tables for this service"),
        };
        self.no_data_error(&what, next)
    }

    pub fn no_data(&self, next: &NextCommands) -> CliError {
        self.no_data_error(&format!("{self} has no numbering data yet"), next)
    }

    fn no_data_error(&self, what: &str, next: &NextCommands) -> CliError {
        let sample = match self {
            // Stacks are not served from this machine.
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

fn text(folder: &Path) -> String {
    folder.to_string_lossy().into_owned()
}

/// The value of a variable. Compose sets unset variables to empty, so empty counts as unset.
fn env_value(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn user_folder() -> Result<PathBuf, CliError> {
    let failed = "you have no home folder; pass a data folder with --data-dir";
    let user = choose_native_strategy().context(failed)?;
    // Windows syncs roaming app data between machines, and a database is too large for that.
    let data = if cfg!(windows) { user.cache_dir() } else { user.data_dir() };
    Ok(data.join("tnr"))
}

pub(crate) fn endpoint_url(text: &str) -> Result<String, String> {
    if text.starts_with("http://") || text.starts_with("https://") {
        Ok(text.to_owned())
    } else {
        Err("must start with http:// or https://".to_owned())
    }
}
