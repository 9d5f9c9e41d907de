//! The options that say where the data is.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::Args;
use etcetera::{BaseStrategy, base_strategy::choose_native_strategy};

use crate::{
    CliError, database::place::Place, error::Context, terminal::next_commands::NextCommands,
};

/// The environment variable that stands for `--data-dir`.
const DATA_DIR: &str = "TNR_DATA_DIR";
/// The environment variable that stands for `--endpoint-url`.
const ENDPOINT_URL: &str = "TNR_ENDPOINT_URL";

/// The folder of the embedded DynamoDB.
///
/// The variables of the environment are not read by clap, so that what was typed can be told from
/// them: it wins, and the next commands repeat it.
#[derive(Debug, Clone, Args)]
pub struct FolderArgs {
    /// Folder of the embedded database; your user's data folder by default [env: TNR_DATA_DIR]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

/// The DynamoDB that holds the data.
#[derive(Debug, Clone, Args)]
pub struct DatabaseArgs {
    #[command(flatten)]
    folder: FolderArgs,
    /// Use the DynamoDB at this URL, or another database with its API, instead of the embedded one
    /// [env: TNR_ENDPOINT_URL]
    #[arg(long, value_name = "URL", value_parser = endpoint_url)]
    endpoint_url: Option<String>,
}

/// The DynamoDB that holds the data, possibly that of a deployed stack.
#[derive(Debug, Clone, Args)]
pub struct DataArgs {
    /// Use the tables of this deployed stack; region and credentials come from the environment
    #[arg(long, value_name = "NAME", conflicts_with_all = ["endpoint_url", "data_dir"])]
    pub stack: Option<String>,
    #[command(flatten)]
    pub database: DatabaseArgs,
}

impl FolderArgs {
    /// The folder that was typed, or else that of the environment, or else that of the user.
    pub fn path(&self) -> Result<PathBuf, CliError> {
        match self.data_dir.clone().or_else(|| variable(DATA_DIR).map(PathBuf::from)) {
            Some(folder) => Ok(folder),
            None => user_folder(),
        }
    }

    /// The commands that work on the same folder.
    pub fn next(&self) -> NextCommands {
        NextCommands::with_options(self.data_dir.iter().map(|folder| ("--data-dir", text(folder))))
    }
}

impl DatabaseArgs {
    /// The folder of the embedded database, which another database does without.
    pub fn folder(&self) -> Result<PathBuf, CliError> {
        self.folder.path()
    }

    /// The address of another database than the embedded one. A typed folder wins over the environment.
    pub fn endpoint_url(&self) -> Result<Option<String>, CliError> {
        if self.endpoint_url.is_some() || self.folder.data_dir.is_some() {
            return Ok(self.endpoint_url.clone());
        }
        let Some(url) = variable(ENDPOINT_URL) else { return Ok(None) };
        let url = url.to_string_lossy();
        let understood = endpoint_url(&url);
        understood
            .map(Some)
            .map_err(|rule| CliError::NotUnderstood(format!("{ENDPOINT_URL} {rule}, got '{url}'")))
    }

    /// The place of the data.
    pub fn place(&self) -> Result<Place, CliError> {
        match self.endpoint_url()? {
            Some(url) => Ok(Place::Endpoint(url)),
            None => self.folder().map(Place::Folder),
        }
    }

    /// The commands that work on the same data.
    pub fn next(&self) -> NextCommands {
        let endpoint = self.endpoint_url.iter().map(|url| ("--endpoint-url", url.clone()));
        let folder = self.folder.data_dir.iter().map(|folder| ("--data-dir", text(folder)));
        NextCommands::with_options(endpoint.chain(folder))
    }
}

impl DataArgs {
    /// The place of the data.
    pub fn place(&self) -> Result<Place, CliError> {
        match &self.stack {
            Some(stack) => Ok(Place::Stack(stack.clone())),
            None => self.database.place(),
        }
    }

    /// Returns `true` if an option says where the data is.
    pub fn is_typed(&self) -> bool {
        let DatabaseArgs { folder, endpoint_url } = &self.database;
        self.stack.is_some() || endpoint_url.is_some() || folder.data_dir.is_some()
    }

    /// The options that name the data which the environment names; none if an option is typed.
    pub(crate) fn options_of_environment(&self) -> Vec<String> {
        if self.is_typed() {
            return Vec::new();
        }
        let named = [("--endpoint-url", ENDPOINT_URL), ("--data-dir", DATA_DIR)]
            .into_iter()
            .find_map(|(option, name)| Some((option, variable(name)?)));
        let words = named.map(|(option, value)| [option.to_owned(), text(Path::new(&value))]);
        words.into_iter().flatten().collect()
    }

    /// The commands that work on the same data.
    pub fn next(&self) -> NextCommands {
        match &self.stack {
            Some(stack) => NextCommands::with_options([("--stack", stack.clone())]),
            None => self.database.next(),
        }
    }
}

fn text(folder: &Path) -> String {
    folder.to_string_lossy().into_owned()
}

/// The value of a variable. An empty one is not set: Compose writes that where the one that it should
/// pass on is missing.
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The folder in which the system keeps the data of the user's programs.
fn user_folder() -> Result<PathBuf, CliError> {
    let failed = "the user has no home folder; name a data folder with --data-dir";
    let user = choose_native_strategy().context(failed)?;
    // Windows carries its data folder from machine to machine, for which a database is too large.
    let data = if cfg!(windows) { user.cache_dir() } else { user.data_dir() };
    Ok(data.join("tnr"))
}

pub(super) fn endpoint_url(text: &str) -> Result<String, String> {
    if text.starts_with("http://") || text.starts_with("https://") {
        Ok(text.to_owned())
    } else {
        Err("must begin with http:// or https://".to_owned())
    }
}
