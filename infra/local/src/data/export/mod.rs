//! The numbering data as tables for other programs. [`tables`] defines the columns; [`files`] writes
//! them.

mod files;
mod provenance;
pub mod tables;

use std::{
    error::Error,
    io::{self, ErrorKind},
};

use indicatif::HumanCount;

use self::files::{FileForm, write_database, write_folder, write_table};
use crate::{
    CliError,
    data::args::{ExportArgs, ExportForm},
    data::numbering_data::{NumberingData, warn_of_sample},
    error::Context,
    new_file::NewFile,
    stop_signals::{StopSignals, until_stopped},
};

type Work = Box<dyn FnOnce(&NumberingData) -> Result<(), Box<dyn Error + Send + Sync>> + Send>;

/// Exports the numbering data.
pub async fn export(args: ExportArgs) -> Result<(), CliError> {
    let (new, work) = prepare(&args)?;
    let data = NumberingData::load(&args.data).await?;
    warn_of_sample(&data.snapshot, &args.data.next());
    let exchanges = HumanCount(data.dataset.exchanges().len() as u64);
    let version = data.snapshot.version.clone();
    let written = until_stopped(StopSignals::receive()?, move || work(&data)).await?;
    let Some(new) = new else {
        return written.context("cannot write to the standard output");
    };
    written.map_err(new.unwritable())?;
    new.finish()?;
    let name = args.file.unwrap_or_default();
    eprintln!("{} is of version {version}, with {exchanges} exchanges.", name.display());
    Ok(())
}

/// The output file or folder, and the work that writes it. Without one, the work writes to stdout.
fn prepare(args: &ExportArgs) -> Result<(Option<NewFile>, Work), CliError> {
    let force = args.replacement.force;
    let form = match args.format {
        ExportForm::Csv => Some(FileForm::Csv),
        ExportForm::JsonLines => Some(FileForm::JsonLines),
        ExportForm::Sqlite => None,
    };
    let file = args.file.as_deref().filter(|file| file.as_os_str() != "-");
    Ok(match (form, args.table, file) {
        (Some(form), Some(table), Some(name)) => {
            let new = NewFile::file(name, force)?;
            let file = new.create()?;
            (Some(new), Box::new(move |data| Ok(write_table(data, table, form, file)?)))
        }
        (Some(form), Some(table), None) => {
            let write = move |data: &_| match write_table(data, table, form, io::stdout().lock()) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
                written => Ok(written?),
            };
            (None, Box::new(write))
        }
        (Some(form), None, Some(name)) => {
            let new = NewFile::folder(name, force)?;
            let path = new.path();
            (Some(new), Box::new(move |data| Ok(write_folder(data, form, &path)?)))
        }
        (None, None, Some(name)) => {
            let new = NewFile::file(name, force)?;
            let path = new.path();
            (Some(new), Box::new(move |data| Ok(write_database(data, &path)?)))
        }
        (Some(_), None, None) => {
            return Err(CliError::failed(
                "the standard output takes one table; pass --table, or name a folder",
            ));
        }
        (None, ..) => {
            return Err(CliError::failed(
                "a database holds all tables in one file; name that, without --table",
            ));
        }
    })
}
