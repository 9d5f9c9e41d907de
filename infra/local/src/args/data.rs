//! Where the data is.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::next_commands::NextCommands;

/// The folder of the embedded DynamoDB, unless another is named.
pub const DATA_DIR: &str = ".local";

/// Which folder has the embedded DynamoDB.
#[derive(Debug, Clone, Args)]
pub struct FolderArgs {
    /// Where the embedded DynamoDB keeps its data
    #[arg(long, value_name = "DIR", env = "TNR_DATA_DIR", default_value = DATA_DIR)]
    pub data_dir: PathBuf,
}

/// Which DynamoDB holds the data.
#[derive(Debug, Clone, Args)]
pub struct DatabaseArgs {
    #[command(flatten)]
    pub folder: FolderArgs,
    /// Use the DynamoDB at this URL, or another database with its API, instead of the embedded one
    #[arg(long, value_name = "URL", env = "TNR_ENDPOINT_URL", value_parser = endpoint_url)]
    pub endpoint_url: Option<String>,
}

/// Which DynamoDB holds the data, a deployed stack's among them.
#[derive(Debug, Clone, Args)]
pub struct DataArgs {
    /// Use the tables of this deployed stack; region and credentials come from the environment
    #[arg(long, value_name = "NAME", conflicts_with_all = ["endpoint_url", "data_dir"])]
    pub stack: Option<String>,
    #[command(flatten)]
    pub database: DatabaseArgs,
}

impl FolderArgs {
    /// The commands that work on the same folder.
    pub fn next(&self) -> NextCommands {
        let named = Some(&self.data_dir).filter(|folder| *folder != Path::new(DATA_DIR));
        let named = named.map(|folder| ("--data-dir", folder.display().to_string()));
        NextCommands::with_options(named)
    }
}

impl DatabaseArgs {
    /// The commands that work on the same data.
    pub fn next(&self) -> NextCommands {
        match &self.endpoint_url {
            Some(url) => NextCommands::with_options([("--endpoint-url", url.clone())]),
            None => self.folder.next(),
        }
    }
}

impl DataArgs {
    /// The commands that work on the same data.
    pub fn next(&self) -> NextCommands {
        match &self.stack {
            Some(stack) => NextCommands::with_options([("--stack", stack.clone())]),
            None => self.database.next(),
        }
    }

    /// Where the data is, for a person.
    pub fn place(&self) -> String {
        match (&self.stack, &self.database.endpoint_url) {
            (Some(stack), _) => format!("stack '{stack}'"),
            (None, Some(url)) => format!("the database at {url}"),
            (None, None) => format!("folder '{}'", self.database.folder.data_dir.display()),
        }
    }
}

pub(super) fn endpoint_url(text: &str) -> Result<String, String> {
    if text.starts_with("http://") || text.starts_with("https://") {
        Ok(text.to_owned())
    } else {
        Err("must begin with http:// or https://".to_owned())
    }
}
