//! Writes the whole numbering data into files or a database.

use std::{
    error::Error,
    fs::File,
    io::{self, ErrorKind},
    path::Path,
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
    let content = Content::of(&args)?;
    let file = args.file.as_deref().filter(|file| file.as_os_str() != "-");
    if let (Content::Folder(_), Some(folder)) = (content, file)
        && folder.exists()
    {
        return Err(LocalError::FolderExists(folder.display().to_string()));
    }
    let data = NumberingData::load(&args.data).await?;
    warn_of_sample(&data.snapshot, &args.data.next());
    let mut signals = StopSignals::receive()?;
    let work = async {
        match (content, file) {
            (Content::Table(table, form), None) => write_to_output(data, table, form).await,
            (_, None) => Err(LocalError::SeveralTables),
            (_, Some(name)) => write_to(data, content, name).await,
        }
    };
    tokio::select! {
        written = work => written,
        () = signals.next() => Err(LocalError::Stopped),
    }
}

async fn write_to_output(
    data: NumberingData,
    table: Table,
    form: FileForm,
) -> Result<(), LocalError> {
    match on_thread(move || write_table(&data, table, form, io::stdout().lock())).await {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(LocalError::io("cannot write to the standard output")),
    }
}

/// Writes a file or folder, and says so.
async fn write_to(data: NumberingData, content: Content, name: &Path) -> Result<(), LocalError> {
    let done = done(&data, name);
    let failed = format!("{} cannot be written", name.display());
    let unfinished = Unfinished::named(name);
    let path = unfinished.path().to_owned();
    let written = on_thread(move || content.write(&data, &path)).await;
    written.map_err(LocalError::io(failed.clone()))?;
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

/// What is written.
#[derive(Debug, Clone, Copy)]
enum Content {
    Table(Table, FileForm),
    Folder(FileForm),
    Database,
}

impl Content {
    fn of(args: &ExportArgs) -> Result<Self, LocalError> {
        let form = match args.format {
            ExportForm::Csv => FileForm::Csv,
            ExportForm::Jsonl => FileForm::JsonLines,
            ExportForm::Sqlite if args.table.is_some() || args.file.is_none() => {
                return Err(LocalError::DatabaseExport);
            }
            ExportForm::Sqlite => return Ok(Self::Database),
        };
        Ok(args.table.map_or(Self::Folder(form), |named| Self::Table(table(named), form)))
    }

    /// Writes a new file or folder with this path.
    fn write(self, data: &NumberingData, path: &Path) -> Result<(), Cause> {
        match self {
            Self::Table(table, form) => {
                Ok(write_table(data, table, form, File::create_new(path)?)?)
            }
            Self::Folder(form) => Ok(write_folder(data, form, path)?),
            Self::Database => Ok(write_database(data, path)?),
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
