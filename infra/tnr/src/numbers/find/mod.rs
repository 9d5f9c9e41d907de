//! The `find` command.

mod adjacent;
mod output;
mod redact;
mod search;
mod text_parts;
mod vanity;

use std::{
    io::{self, ErrorKind, IsTerminal, Write},
    path::Path,
    process::ExitCode,
};

use formatting::RulesFailed;

use crate::{
    CliError,
    error::{FAILURE_EXIT_CODE, NOT_FOUND_EXIT_CODE},
    numbers::{args::FindArgs, format::load_dataset, input, pipeline::process_in_order},
    show_error,
    terminal::{
        progress::{Progress, Unit},
        show_note,
    },
};
use output::{Output, Page};
use text_parts::{Part, Parts};

/// A reason to stop.
#[derive(Debug, thiserror::Error)]
enum FindError {
    #[error("{0} cannot be read")]
    Unreadable(String, #[source] io::Error),
    #[error("cannot write to stdout")]
    Unwritable(#[source] io::Error),
    #[error(transparent)]
    Rules(#[from] RulesFailed),
}

/// Prints the lines of files, or of stdin, that contain phone numbers. A file that cannot be read does not stop the
/// others.
pub async fn find(args: FindArgs) -> Result<ExitCode, CliError> {
    let dataset = if args.json { load_dataset(&args.data).await? } else { None };
    let (mut has_found, mut has_failed) = (false, false);
    let stdin = [Path::new("-").to_owned()];
    let files = if args.files.is_empty() { &stdin[..] } else { &args.files };
    for file in files {
        let output = Output::new(&args, dataset.as_deref(), file, files.len() > 1);
        match search(file, &output, args.redact) {
            Ok(has_numbers) => has_found |= has_numbers,
            // The reader has seen enough, as `head` does.
            Err(FindError::Unwritable(error)) if error.kind() == ErrorKind::BrokenPipe => {
                has_found = true;
                break;
            }
            Err(error @ FindError::Unreadable(..)) => {
                has_failed = true;
                show_error(&CliError::Other(error.into()));
            }
            Err(error) => return Err(CliError::Other(error.into())),
        }
    }
    Ok(match has_found || args.redact {
        _ if has_failed => ExitCode::from(FAILURE_EXIT_CODE),
        true => ExitCode::SUCCESS,
        false => ExitCode::from(NOT_FOUND_EXIT_CODE),
    })
}

/// Searches a file in parallel, and anything else, such as a pipe, as it arrives. Returns `true` if it has numbers.
fn search(file: &Path, output: &Output<'_>, has_whole_text: bool) -> Result<bool, FindError> {
    let unreadable = |error| FindError::Unreadable(file.display().to_string(), error);
    let (reader, bytes) = input::open(file).map_err(unreadable)?;
    let mut stdout = io::stdout().lock();
    let progress = Progress::beside_output(stdout.is_terminal());
    progress.start(format!("Searching {}", file.display()), Unit::Bytes, bytes);
    let reader = progress.wrap_read(reader);
    let parts = Parts::new(reader, bytes.is_some()).map_err(unreadable)?;
    let is_utf_16 = parts.is_utf_16();
    let mut parts = parts.map(|part| part.map_err(unreadable));
    let mut found = 0;
    let mut write = |page: Result<Page, RulesFailed>| {
        let Page { text, numbers } = page?;
        found += numbers;
        stdout.write_all(&text).and_then(|()| stdout.flush()).map_err(FindError::Unwritable)
    };
    let find = |part: Part| output.page(&part);
    if bytes.is_some() {
        process_in_order(parts, find, write)?;
    } else {
        parts.try_for_each(|part| write(find(part?)))?;
    }
    drop(progress);
    if is_utf_16 && has_whole_text {
        show_note(&format!("note: {} is in UTF-16, and the output in UTF-8", file.display()));
    }
    Ok(found > 0)
}
