//! Writes the whole numbering data into files or a database.

use std::{
    error::Error,
    fs::File,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    thread,
};

use indicatif::HumanCount;
use tokio::sync::oneshot;

use crate::{
    LocalError,
    args::{ExportArgs, ExportForm, ExportTable},
    export::{FileForm, Table, write_database, write_folder, write_table},
    new_file::Unfinished,
    numbering_data::{NumberingData, warn_of_sample},
    stop_signals::StopSignals,
};

/// Writes the numbering data.
///
/// # Errors
/// Returns an error if there is no data yet, the database cannot be used, or the output cannot be written.
pub async fn export(args: ExportArgs) -> Result<(), LocalError> {
    let target = Target::of(&args)?;
    if let Target::Folder(_, folder) = &target
        && folder.exists()
    {
        return Err(LocalError::FolderExists(folder.display().to_string()));
    }
    let data = NumberingData::load(&args.data).await?.ok_or(LocalError::NoData)?;
    warn_of_sample(&data.snapshot);
    let mut signals = StopSignals::receive()?;
    let Some(name) = target.name() else {
        return tokio::select! {
            written = on_thread(move || target.write_to_output(&data)) => written,
            () = signals.next() => Err(LocalError::Stopped),
        };
    };
    let done = done(&data, name);
    let failed = format!("{} cannot be written", name.display());
    let unfinished = Unfinished::named(name);
    let path = unfinished.path().to_owned();
    let written = on_thread(move || target.write(&data, &path));
    tokio::select! {
        written = written => written.map_err(LocalError::io(failed.clone()))?,
        () = signals.next() => return Err(LocalError::Stopped),
    }
    unfinished.finish().map_err(LocalError::io(failed))?;
    eprintln!("{done}");
    Ok(())
}

fn done(data: &NumberingData, name: &Path) -> String {
    let exchanges = HumanCount(data.dataset.exchanges().len() as u64);
    let version = &data.snapshot.version;
    format!("{} is of version {version}, with {exchanges} exchanges.", name.display())
}

/// What `work` does on a thread of its own, which a signal need not wait for.
async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = oneshot::channel();
    thread::spawn(move || tell.send(work()));
    told.await.expect("the thread ends with what it did, or by a panic that has been shown")
}

/// Why a file cannot be written.
type Cause = Box<dyn Error + Send + Sync>;

/// What is written, and where.
enum Target {
    Output(Table, FileForm),
    File(Table, FileForm, PathBuf),
    Folder(FileForm, PathBuf),
    Database(PathBuf),
}

impl Target {
    fn of(args: &ExportArgs) -> Result<Self, LocalError> {
        let file = args.file.clone().filter(|file| file.as_os_str() != "-");
        let table = args.table.map(table);
        let form = match args.format {
            ExportForm::Csv => FileForm::Csv,
            ExportForm::Jsonl => FileForm::JsonLines,
            ExportForm::Sqlite => {
                return match (file, table) {
                    (Some(file), None) => Ok(Self::Database(file)),
                    _ => Err(LocalError::DatabaseExport),
                };
            }
        };
        match (table, file) {
            (Some(table), Some(file)) => Ok(Self::File(table, form, file)),
            (Some(table), None) => Ok(Self::Output(table, form)),
            (None, Some(folder)) => Ok(Self::Folder(form, folder)),
            (None, None) => Err(LocalError::SeveralTables),
        }
    }

    fn name(&self) -> Option<&Path> {
        match self {
            Self::Output(..) => None,
            Self::File(_, _, name) | Self::Folder(_, name) | Self::Database(name) => Some(name),
        }
    }

    fn write_to_output(&self, data: &NumberingData) -> Result<(), LocalError> {
        let Self::Output(table, form) = *self else { return Ok(()) };
        match write_table(data, table, form, io::stdout().lock()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(LocalError::io("cannot write to the standard output")),
        }
    }

    /// Writes into a new file or folder of this name.
    fn write(&self, data: &NumberingData, path: &Path) -> Result<(), Cause> {
        match *self {
            Self::Output(table, form) | Self::File(table, form, _) => {
                Ok(write_table(data, table, form, File::create_new(path)?)?)
            }
            Self::Folder(form, _) => Ok(write_folder(data, form, path)?),
            Self::Database(_) => Ok(write_database(data, path)?),
        }
    }
}

fn table(table: ExportTable) -> Table {
    match table {
        ExportTable::AreaCodes => Table::AreaCodes,
        ExportTable::Carriers => Table::Carriers,
        ExportTable::Exchanges => Table::Exchanges,
        ExportTable::Blocks => Table::Blocks,
        ExportTable::Provenance => Table::Provenance,
    }
}
