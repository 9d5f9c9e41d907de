//! The `format` command.

use std::{
    fs::File,
    io::{self, BufWriter, ErrorKind, IsTerminal, Read, Write},
    path::Path,
    sync::Arc,
};

use indicatif::{ProgressBar, ProgressStyle};
use numbering::dataset::Dataset;

use crate::{
    CliError,
    data::numbering_data::{NumberingData, warn_of_sample, without_data},
    error::Cause,
    new_file::NewFile,
    numbers::{
        args::FormatArgs,
        list::{Described, ListError, ListOptions, describe},
    },
    stop_signals::{StopSignals, until_stopped},
};

/// Describes each number in a list and prints the valid, repaired and rejected counts.
pub async fn format(mut args: FormatArgs) -> Result<(), CliError> {
    let list = List::open(args.file.as_deref())?;
    args.list.guess_forms(args.file.as_deref(), args.output.as_deref());
    let signals = StopSignals::receive()?;
    let (new, output) = open_output(&args)?;
    let dataset = dataset(&args).await?;
    let options = args.list;
    let described =
        until_stopped(signals, move || write_all(list, options, dataset, output)).await??;
    let Some(described) = described else { return Ok(()) };
    new.map_or(Ok(()), NewFile::finish)?;
    eprint!("{}", described.report);
    match described.rejected {
        rejected if args.strict && rejected > 0 => Err(CliError::RejectedNumbers(rejected)),
        _ => Ok(()),
    }
}

/// The numbering data, which is optional.
async fn dataset(args: &FormatArgs) -> Result<Option<Arc<Dataset>>, CliError> {
    let next = args.data.next();
    match NumberingData::load(&args.data).await {
        Err(CliError::NoData(_)) => {
            eprintln!("note: {}", without_data(&args.data.place()?, &next));
            Ok(None)
        }
        loaded => {
            let NumberingData { dataset, snapshot } = loaded?;
            warn_of_sample(&snapshot, &next);
            Ok(Some(dataset))
        }
    }
}

/// `None` if the reader closed the pipe early, as `head` does.
fn write_all(
    list: List,
    options: ListOptions,
    dataset: Option<Arc<Dataset>>,
    output: Output,
) -> Result<Option<Described>, CliError> {
    let bar = list.bar(output.is_terminal);
    let reader = bar.wrap_read(list.reader);
    let done = |rows| bar.set_message(indicatif::HumanCount(rows).to_string());
    let described = describe(reader, options, dataset, &mut BufWriter::new(output.writer), done);
    bar.finish_and_clear();
    match described {
        Err(ListError::Unwritable(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(None),
        described => Ok(Some(described.map_err(Cause::from)?)),
    }
}

/// The input list.
struct List {
    reader: Box<dyn Read + Send>,
    /// `None` for a pipe.
    bytes: Option<u64>,
}

impl List {
    fn open(file: Option<&Path>) -> Result<Self, CliError> {
        let Some(file) = file.filter(|file| *file != Path::new("-")) else {
            let input = io::stdin();
            if input.is_terminal() {
                return Err(CliError::failed("there is no list; name a file, or pipe numbers in"));
            }
            return Ok(Self { reader: Box::new(input), bytes: None });
        };
        let failed = || CliError::io(format!("{} cannot be read", file.display()));
        let opened = File::open(file).map_err(failed())?;
        let metadata = opened.metadata().map_err(failed())?;
        if metadata.is_dir() {
            return Err(failed()(ErrorKind::IsADirectory.into()));
        }
        let bytes = if metadata.is_file() { Some(metadata.len()) } else { None };
        Ok(Self { reader: Box::new(opened), bytes })
    }

    /// A progress bar on stderr, hidden unless that is a terminal. Also hidden if it would mix with
    /// output on the same terminal.
    fn bar(&self, is_output_terminal: bool) -> ProgressBar {
        const OF_FILE: &str = "{msg} numbers {wide_bar} {bytes}/{total_bytes} {eta}";
        const OF_PIPE: &str = "{spinner} {msg} numbers {bytes} {elapsed}";
        if is_output_terminal {
            return ProgressBar::hidden();
        }
        let (bar, style) = match self.bytes {
            Some(bytes) => (ProgressBar::new(bytes), OF_FILE),
            None => (ProgressBar::no_length(), OF_PIPE),
        };
        match ProgressStyle::with_template(style) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }
}

struct Output {
    writer: Box<dyn Write + Send>,
    is_terminal: bool,
}

/// The writer, and the output file to finish, if any.
fn open_output(args: &FormatArgs) -> Result<(Option<NewFile>, Output), CliError> {
    let Some(file) = args.output.as_deref().filter(|file| *file != Path::new("-")) else {
        let is_terminal = io::stdout().is_terminal();
        return Ok((None, Output { writer: Box::new(io::stdout()), is_terminal }));
    };
    let new = NewFile::file(file, args.replacement.force)?;
    let created = new.create()?;
    let is_terminal = created.is_terminal();
    Ok((Some(new), Output { writer: Box::new(created), is_terminal }))
}
