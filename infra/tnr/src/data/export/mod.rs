//! Exports numbering data as tables for other programs. [`tables`] defines the columns, [`files`] writes them, and
//! [`vicidial`] has a layout of its own.

mod files;
mod prefixes;
pub mod tables;
mod vicidial;

use std::{
    io::{self, ErrorKind, IsTerminal, Write},
    path::PathBuf,
    sync::Arc,
};

use clap::{Args, ValueEnum};
use indicatif::HumanCount;
use jiff::civil::Date;
use numbering::time::today;

use self::{
    files::{TableFormat, write_database, write_folder, write_table},
    tables::Table,
};
use crate::{
    CliError,
    data::numbering_data::NumberingData,
    database::args::DataArgs,
    error::{Cause, Context},
    new_file::{NewFile, Replacement},
    stop_signals::{StopSignals, until_stopped},
    terminal::{escape::data_output, progress::Progress, show_note},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One CSV file per table
    Csv,
    /// One JSON Lines file per table
    #[value(name = "jsonl")]
    JsonLines,
    /// One Parquet file per table
    Parquet,
    /// A SQLite database with all tables, including prefixes, and views
    Sqlite,
    /// VICIdial's NANPA_prefix-latest.txt
    Vicidial,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// File to create, or folder for csv, jsonl and parquet without --table. With --table, the default is
    /// stdout. An incomplete export leaves nothing behind
    #[arg(required_unless_present = "table")]
    pub file: Option<PathBuf>,
    /// Export format
    #[arg(long, value_name = "FORMAT")]
    pub format: ExportFormat,
    /// Export only this table, as one file
    #[arg(long)]
    pub table: Option<Table>,
    /// Day of the holders in the table prefixes, such as 2026-12-25 [default: today in UTC]. With vicidial, the first day
    /// of the year whose daylight saving time counts
    #[arg(long, value_name = "DATE")]
    pub effective_on: Option<Date>,
    #[command(flatten)]
    pub replacement: Replacement,
    #[command(flatten)]
    pub data: DataArgs,
}

pub struct Source {
    pub data: NumberingData,
    /// The day on which assignments must be effective.
    pub effective_on: Date,
    pub progress: Progress,
}

/// Writes a format that needs no file.
type Stream = Box<dyn FnOnce(&Source, Box<dyn Write + Send>) -> io::Result<()> + Send>;
type Work = Box<dyn FnOnce(&Source) -> Result<(), Cause> + Send>;

pub async fn export(args: ExportArgs) -> Result<(), CliError> {
    let (output, work) = prepare(&args)?;
    let data = NumberingData::load(&args.data).await?;
    let exchanges = HumanCount(data.dataset.exchanges().len() as u64);
    let version = data.snapshot.version.clone();
    let effective_on = args.effective_on.unwrap_or_else(today);
    let progress = Progress::beside_output(output.is_none() && io::stdout().is_terminal());
    let source = Arc::new(Source { data, effective_on, progress });
    let used = source.clone();
    let exported = until_stopped(StopSignals::listen()?, move || work(&used)).await;
    source.progress.finish();
    let exported = exported?;
    let Some(output) = output else { return exported.context("cannot write to stdout") };
    exported.map_err(output.unwritable())?;
    output.finish()?;
    let name = args.file.unwrap_or_default();
    let name = name.display();
    show_note(&format!("Exported version {version} with {exchanges} exchanges to {name}."));
    Ok(())
}

/// The form of an export.
enum Form {
    /// One table, or a dialer's.
    Stream(Stream),
    /// A file per table.
    Folder(TableFormat),
    Database,
}

impl Form {
    fn new(args: &ExportArgs) -> Result<Self, CliError> {
        let format = match args.format {
            ExportFormat::Csv => TableFormat::Csv,
            ExportFormat::JsonLines => TableFormat::JsonLines,
            ExportFormat::Parquet => TableFormat::Parquet,
            _ if args.table.is_some() => {
                return Err(CliError::failed(
                    "this format is one file with all data; omit --table",
                ));
            }
            ExportFormat::Sqlite => return Ok(Self::Database),
            ExportFormat::Vicidial => return Ok(Self::Stream(Box::new(vicidial::write_prefixes))),
        };
        Ok(match args.table {
            Some(table) => Self::Stream(Box::new(move |source, output| {
                write_table(source, table, format, output)
            })),
            None => Self::Folder(format),
        })
    }
}

/// The output file or folder, and the work that writes it. Without one, the work writes to stdout.
fn prepare(args: &ExportArgs) -> Result<(Option<NewFile>, Work), CliError> {
    if args.effective_on.is_some() && !depends_on_day(args) {
        let message = "--effective-on is only for --table prefixes and --format sqlite or vicidial";
        return Err(CliError::failed(message));
    }
    let form = Form::new(args)?;
    let Some(name) = args.file.as_deref().filter(|file| file.as_os_str() != "-") else {
        let Form::Stream(write) = form else {
            let message = "stdout takes one table; pass --table, or a file or folder";
            return Err(CliError::failed(message));
        };
        let write = move |source: &_| ignore_closed_pipe(write(source, data_output(io::stdout())));
        return Ok((None, Box::new(write)));
    };
    let create = if let Form::Folder(_) = form { NewFile::create_folder } else { NewFile::create };
    let output = create(name, args.replacement.force)?;
    let path = output.path();
    let work: Work = match form {
        Form::Stream(write) => {
            let file = output.open()?;
            Box::new(move |source| Ok(write(source, Box::new(file))?))
        }
        Form::Folder(format) => Box::new(move |source| Ok(write_folder(source, format, &path)?)),
        Form::Database => Box::new(move |source| Ok(write_database(source, &path)?)),
    };
    Ok((Some(output), work))
}

/// Returns `true` if the output has holders on one day.
fn depends_on_day(ExportArgs { format, table, .. }: &ExportArgs) -> bool {
    matches!(format, ExportFormat::Sqlite | ExportFormat::Vicidial)
        || *table == Some(Table::Prefixes)
}

/// The reader of a pipe may have seen enough, as `head` does.
fn ignore_closed_pipe(written: io::Result<()>) -> Result<(), Cause> {
    // The CSV library wraps errors.
    let is_closed = |error: &io::Error| {
        let wrapped = error.get_ref().and_then(|it| it.downcast_ref()).map(csv::Error::kind);
        let wrapped = if let Some(csv::ErrorKind::Io(error)) = wrapped { error } else { error };
        wrapped.kind() == ErrorKind::BrokenPipe
    };
    match written {
        Err(error) if is_closed(&error) => Ok(()),
        written => Ok(written?),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct TestCli {
        #[command(flatten)]
        args: ExportArgs,
    }

    #[test]
    fn only_exports_of_holders_on_a_day_take_a_day() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("file").display().to_string();
        for (arguments, is_allowed) in [
            (&["sqlite", &file][..], true),
            (&["vicidial", &file], true),
            (&["vicidial", "-"], true),
            (&["csv", "--table", "prefixes"], true),
            (&["csv", "--table", "blocks"], false),
            (&["parquet", &file], false),
        ] {
            for day in [&[][..], &["--effective-on", "2026-12-25"]] {
                let arguments = [&["tnr", "--format"], arguments, day].concat();
                let prepared = prepare(&TestCli::try_parse_from(&arguments).unwrap().args);
                assert_eq!(prepared.is_ok(), day.is_empty() || is_allowed, "{arguments:?}");
            }
        }
    }
}
