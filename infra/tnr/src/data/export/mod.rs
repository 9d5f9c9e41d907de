//! Exports numbering data as tables for other programs. [`tables`] defines the columns, [`files`] writes them, and
//! [`vicidial`] has its own layout.

mod files;
mod prefixes;
pub mod tables;
mod vicidial;

use std::{
    fs::File,
    io::{self, ErrorKind, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::{Args, ValueEnum};
use indicatif::HumanCount;
use jiff::civil::Date;
use numbering::time::today;

use self::{
    files::{write_database, write_folder, write_table},
    tables::Table,
};
use crate::{
    CliError,
    data::numbering_data::NumberingData,
    database::args::DataArgs,
    error::{Cause, Context},
    new_file::{Kind, NewFile, Replacement},
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
    /// Date of the holders in the table prefixes, such as 2026-12-25 [default: today in UTC]. With vicidial, the start
    /// of the year in which to look for daylight saving time
    #[arg(long, value_name = "DATE")]
    pub effective_on: Option<Date>,
    #[command(flatten)]
    pub replacement: Replacement,
    #[command(flatten)]
    pub data: DataArgs,
}

pub struct Source {
    pub data: NumberingData,
    pub effective_on: Date,
    pub progress: Progress,
}

#[cfg(test)]
impl Source {
    fn new(dataset: numbering::dataset::Dataset, effective_on: Date) -> Self {
        let at = jiff::Timestamp::UNIX_EPOCH;
        let snapshot = store::Snapshot::of(&dataset, numbering::records::Version::new(at), at);
        let data = NumberingData { dataset: Arc::new(dataset), snapshot, countries: Vec::new() };
        Self { data, effective_on, progress: Progress::beside_output(true) }
    }
}

pub async fn export(args: ExportArgs) -> Result<(), CliError> {
    let output = start_output(&args)?;
    let data = NumberingData::load(&args.data, false).await?;
    let exchanges = HumanCount(data.dataset.exchanges().len() as u64);
    let version = data.snapshot.version.clone();
    let effective_on = args.effective_on.unwrap_or_else(today);
    let progress = Progress::beside_output(output.is_none() && io::stdout().is_terminal());
    let source = Arc::new(Source { data, effective_on, progress });
    let (used, format, table) = (source.clone(), args.format, args.table);
    let path = output.as_ref().map(NewFile::path);
    let work = move || write(&used, format, table, path.as_deref());
    let exported = until_stopped(StopSignals::listen()?, work).await;
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

/// Starts the output file or folder; `None` for stdout.
fn start_output(args: &ExportArgs) -> Result<Option<NewFile>, CliError> {
    let ExportArgs { format, table, .. } = args;
    let has_tables = !matches!(format, ExportFormat::Sqlite | ExportFormat::Vicidial);
    let depends_on_day = !has_tables || *table == Some(Table::Prefixes);
    if args.effective_on.is_some() && !depends_on_day {
        let message = "--effective-on is only for --table prefixes and --format sqlite or vicidial";
        return Err(CliError::failed(message));
    }
    if table.is_some() && !has_tables {
        return Err(CliError::failed("this format is one file with all data; omit --table"));
    }
    let is_folder = has_tables && table.is_none();
    match args.file.as_deref().filter(|file| file.as_os_str() != "-") {
        Some(file) => {
            let kind = if is_folder { Kind::Folder } else { Kind::File };
            NewFile::create(file, kind, args.replacement.force).map(Some)
        }
        None if is_folder || *format == ExportFormat::Sqlite => {
            Err(CliError::failed("stdout takes one table; pass --table, or a file or folder"))
        }
        None => Ok(None),
    }
}

fn write(
    source: &Source,
    format: ExportFormat,
    table: Option<Table>,
    path: Option<&Path>,
) -> Result<(), Cause> {
    let output = || -> io::Result<Box<dyn Write + Send>> {
        Ok(match path {
            Some(path) => Box::new(File::options().write(true).open(path)?),
            None => data_output(io::stdout()),
        })
    };
    let written = match (format, table, path) {
        (ExportFormat::Sqlite, _, Some(path)) => return Ok(write_database(source, path)?),
        (ExportFormat::Vicidial, ..) => vicidial::write_prefixes(source, output()?),
        (_, Some(table), _) => write_table(source, table, format, output()?),
        (_, None, Some(path)) => write_folder(source, format, path),
        (_, None, None) => unreachable!("all tables need a file or folder"),
    };
    if path.is_some() { Ok(written?) } else { ignore_closed_pipe(written) }
}

/// Treats a closed pipe as success, because a reader such as `head` may have seen enough.
fn ignore_closed_pipe(written: io::Result<()>) -> Result<(), Cause> {
    // The CSV library wraps I/O errors.
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
