//! Writes the whole numbering data into files or a database.

use std::{
    io::{self, ErrorKind},
    path::Path,
    thread,
};

use indicatif::HumanCount;
use tokio::sync::oneshot;

use crate::{
    LocalError,
    args::{ExportArgs, ExportForm, ExportTable},
    error::Cause,
    export::{FileForm, Table, write_database, write_folder, write_table},
    new_file::NewFile,
    numbering_data::{NumberingData, warn_of_sample},
    stop_signals::StopSignals,
};

/// Writes the numbering data.
pub async fn export(args: ExportArgs) -> Result<(), LocalError> {
    let content = Content::of(&args)?;
    let output = match args.file.as_deref().filter(|file| file.as_os_str() != "-") {
        Some(name) => Some((name, content.new_file(name, args.replacement.force)?)),
        None => None,
    };
    let data = NumberingData::load(&args.data).await?;
    warn_of_sample(&data.snapshot, &args.data.next());
    let mut signals = StopSignals::receive()?;
    let work = async {
        match (content, output) {
            (Content::Table(table, form), None) => write_to_output(data, table, form).await,
            (_, None) => Err(LocalError::failed(
                "the standard output takes one table; pass --table, or name a folder",
            )),
            (_, Some((name, new))) => write_to(data, content, name, new).await,
        }
    };
    tokio::select! {
        written = work => written,
        _ = signals.next() => Err(LocalError::Stopped),
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
async fn write_to(
    data: NumberingData,
    content: Content,
    name: &Path,
    new: NewFile,
) -> Result<(), LocalError> {
    let done = done(&data, name);
    let write = content.writer(&new)?;
    on_thread(move || write(&data)).await.map_err(new.unwritable())?;
    new.finish()?;
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

/// Writes the data, or says why it cannot be written.
type Writer = Box<dyn FnOnce(&NumberingData) -> Result<(), Cause> + Send>;

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
                return Err(LocalError::failed(
                    "a database holds all tables in one file; name that, without --table",
                ));
            }
            ExportForm::Sqlite => return Ok(Self::Database),
        };
        Ok(args.table.map_or(Self::Folder(form), |named| Self::Table(table(named), form)))
    }

    fn new_file(self, name: &Path, may_replace: bool) -> Result<NewFile, LocalError> {
        match self {
            Self::Folder(_) => NewFile::folder(name, may_replace),
            Self::Table(..) | Self::Database => NewFile::file(name, may_replace),
        }
    }

    /// The work that writes it.
    fn writer(self, new: &NewFile) -> Result<Writer, LocalError> {
        let path = new.path();
        Ok(match self {
            Self::Table(table, form) => {
                let file = new.create()?;
                Box::new(move |data| Ok(write_table(data, table, form, file)?))
            }
            Self::Folder(form) => Box::new(move |data| Ok(write_folder(data, form, &path)?)),
            Self::Database => Box::new(move |data| Ok(write_database(data, &path)?)),
        })
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
