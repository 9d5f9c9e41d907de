//! The `format` command.

use std::{
    io::{self, BufWriter, ErrorKind, IsTerminal, Read, Write},
    path::{Path, PathBuf},
};

use clap::Args;

use crate::{
    CliError,
    data::numbering_data::{NumberingData, no_data_note},
    database::args::DataArgs,
    error::Cause,
    new_file::{Kind, NewFile, Replacement},
    numbers::{
        list::{ListError, ListOptions, ListReport, describe_list},
        open_input,
    },
    stop_signals::{StopSignals, until_stopped},
    terminal::{
        escape::data_output,
        progress::{Progress, Unit},
        show_note,
    },
};

#[derive(Debug, Args)]
pub struct FormatArgs {
    /// CSV file, or text file with one number per line [default: stdin]
    pub file: Option<PathBuf>,
    /// Write to this file instead of stdout; an incomplete file is never left behind
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub replacement: Replacement,
    #[command(flatten)]
    pub list: ListOptions,
    /// Exit with code 1 if any number is rejected
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

/// Describes each number in a list, and prints how many are valid, repaired, rejected and empty.
pub async fn format(mut args: FormatArgs) -> Result<(), CliError> {
    let file = args.file.as_deref().unwrap_or(Path::new("-"));
    let list =
        open_input(file).map_err(CliError::io(format!("{} cannot be read", file.display())))?;
    args.list.infer_formats(args.file.as_deref(), args.output.as_deref())?;
    let signals = StopSignals::listen()?;
    let (file, output) = open_output(&args)?;
    let data = load_data(&args.data, args.list.needs_countries()).await?;
    let options = args.list;
    let report = until_stopped(signals, move || write_all(list, options, data, output)).await??;
    let Some(report) = report else { return Ok(()) };
    file.map_or(Ok(()), NewFile::finish)?;
    show_note(report.text.trim_end());
    match report.rejected {
        rejected if args.strict && rejected > 0 => Err(CliError::RejectedNumbers(rejected)),
        _ => Ok(()),
    }
}

/// Loads the numbering data, and other countries' ranges if results need them; `None` before the first import.
pub async fn load_data(
    data: &DataArgs,
    needs_countries: bool,
) -> Result<Option<NumberingData>, CliError> {
    match NumberingData::load(data, needs_countries).await {
        Err(CliError::NoData(_)) => {
            show_note(&format!("note: {}", no_data_note(&data.location()?, &data.next())));
            Ok(None)
        }
        loaded => Ok(Some(loaded?)),
    }
}

/// Returns `None` if the reader, such as `head`, closed the pipe early.
fn write_all(
    (reader, bytes): (Box<dyn Read + Send>, Option<u64>),
    options: ListOptions,
    data: Option<NumberingData>,
    (writer, is_terminal): Output,
) -> Result<Option<ListReport>, CliError> {
    let progress = Progress::beside_output(is_terminal);
    progress.start("Formatting numbers", Unit::Bytes, bytes);
    let reader = progress.wrap_read(reader);
    let report = describe_list(reader, options, data.as_ref(), &mut BufWriter::new(writer));
    drop(progress);
    match report {
        Err(ListError::Unwritable(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(None),
        report => Ok(Some(report.map_err(Cause::from)?)),
    }
}

type Output = (Box<dyn Write + Send>, bool);

fn open_output(args: &FormatArgs) -> Result<(Option<NewFile>, Output), CliError> {
    let Some(file) = args.output.as_deref().filter(|file| *file != Path::new("-")) else {
        return Ok((None, (data_output(io::stdout()), io::stdout().is_terminal())));
    };
    let new = NewFile::create(file, Kind::File, args.replacement.force)?;
    let opened = new.open()?;
    let is_terminal = opened.is_terminal();
    Ok((Some(new), (data_output(opened), is_terminal)))
}
