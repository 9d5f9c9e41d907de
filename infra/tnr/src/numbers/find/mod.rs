//! The `find` command.

mod allowed;
mod output;
mod redact;
mod text_parts;
mod vanity;

use std::{
    io::{self, Cursor, ErrorKind, IsTerminal, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use encoding_rs::Encoding;
use format::Include;
use formatting::{
    DefaultCountry, Languages, Leniency, NumberInText, PhoneNumber, RulesError, find_numbers,
};
use strum::VariantNames;

use crate::{
    CliError,
    database::args::DataArgs,
    error::{Context, FAILURE_EXIT_CODE, NOT_FOUND_EXIT_CODE},
    numbers::{format::load_data, open_input, pipeline::process_in_order},
    show_error,
    terminal::{
        progress::{Progress, Unit},
        show_note,
    },
};
use allowed::{AllowedNumbers, MARKER};
use output::{Output, PartOutput};
use text_parts::{Part, Parts};

#[derive(Debug, Args)]
pub struct FindArgs {
    /// Text files, or - for stdin [default: stdin]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Country for numbers without a country code, as ISO 3166-1 alpha-2 [default: US]
    #[arg(long, value_name = "CODE")]
    pub country: Option<DefaultCountry>,
    /// Strictness of the search [default: valid; with --redact, possible and vanity numbers]
    #[arg(
        long,
        value_name = "LEVEL",
        value_parser = PossibleValuesParser::new(Leniency::VARIANTS).try_map(|level| level.parse::<Leniency>())
    )]
    pub leniency: Option<Leniency>,
    /// Print only the numbers, each on its own line
    #[arg(long, short, conflicts_with_all = ["json", "redact"])]
    pub only_matching: bool,
    /// Print each number as a line of JSON: its line, its position there in code points, and the API's
    /// result
    #[arg(long, conflicts_with = "redact")]
    pub json: bool,
    /// Print the whole text with each digit of a number, and each letter of a vanity number, replaced by an
    /// asterisk
    #[arg(long)]
    pub redact: bool,
    /// Print only the position and masked digits of each valid number, and exit with 1 if there are any. Skips binary
    /// files, fictional numbers, and lines with 'tnr:allow'
    #[arg(long, requires = "redact")]
    pub check: bool,
    /// Numbers that --check skips: one on each line, or a pattern such as +1415234????
    #[arg(long, value_name = "FILE", requires = "check")]
    pub allow: Option<PathBuf>,
    #[arg(
        long, value_name = "FIELDS", requires = "json",
        help = format!("Optional fields to add to the JSON, comma-separated: {}", Include::names().join(", "))
    )]
    pub include: Option<Include>,
    /// Language of place and network names, such as de or zh-Hant [default: en]
    #[arg(long, value_name = "TAG", requires = "include")]
    pub lang: Option<Languages>,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, thiserror::Error)]
enum FindError {
    #[error("{0} cannot be read")]
    Unreadable(String, #[source] io::Error),
    #[error("cannot write to stdout")]
    Unwritable(#[source] io::Error),
    #[error(transparent)]
    Rules(#[from] RulesError),
}

/// Prints the lines in files or stdin that contain phone numbers. Continues with the other files if one cannot be
/// read.
pub async fn find(args: FindArgs) -> Result<ExitCode, CliError> {
    let include = args.include.as_ref();
    let needs_countries = include.is_some_and(Include::needs_countries);
    let data = if args.json { load_data(&args.data, needs_countries).await? } else { None };
    let (mut has_found, mut has_failed) = (false, false);
    let allowed = args.check.then(|| read_allowed(&args)).transpose()?;
    let stdin = [Path::new("-").to_owned()];
    let files = if args.files.is_empty() { &stdin[..] } else { &args.files };
    for file in files {
        let output = Output::new(&args, data.as_ref(), allowed.as_ref(), file, files.len() > 1);
        match search(file, &output, &args) {
            Ok(has_numbers) => has_found |= has_numbers,
            // The reader of the pipe, such as `head`, has seen enough.
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
    if args.check && has_found {
        show_note(&format!(
            "to allow a number, add '{MARKER}' to its line, or add it to a list and pass --allow FILE"
        ));
    }
    let has_passed = if args.check { !has_found } else { has_found || args.redact };
    Ok(match has_passed {
        _ if has_failed => ExitCode::from(FAILURE_EXIT_CODE),
        true => ExitCode::SUCCESS,
        false => ExitCode::from(NOT_FOUND_EXIT_CODE),
    })
}

fn read_allowed(args: &FindArgs) -> Result<AllowedNumbers, CliError> {
    let list = args.allow.as_deref();
    let name = list.unwrap_or(Path::new("")).display();
    AllowedNumbers::read(list, args.country.unwrap_or_default())
        .context(format!("{name} cannot be used"))
}

/// Searches files in parallel, and other input, such as a pipe, as it arrives. Returns `true` if it contains numbers.
fn search(file: &Path, output: &Output<'_>, args: &FindArgs) -> Result<bool, FindError> {
    let unreadable = |error| FindError::Unreadable(file.display().to_string(), error);
    let (mut reader, bytes) = open_input(file).map_err(unreadable)?;
    if args.check {
        let mut head = Vec::new();
        reader.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(unreadable)?;
        if is_binary(&head) {
            return Ok(false);
        }
        reader = Box::new(Cursor::new(head).chain(reader));
    }
    let mut stdout = io::stdout().lock();
    let progress = Progress::beside_output(stdout.is_terminal());
    progress.start(format!("Searching {}", file.display()), Unit::Bytes, bytes);
    let reader = progress.wrap_read(reader);
    let parts = Parts::new(reader, bytes.is_some()).map_err(unreadable)?;
    let is_utf_16 = parts.is_utf_16;
    let mut parts = parts.map(|part| part.map_err(unreadable));
    let mut found = 0;
    let mut write = |part: Result<PartOutput, RulesError>| {
        let PartOutput { text, numbers } = part?;
        found += numbers;
        stdout.write_all(&text).and_then(|()| stdout.flush()).map_err(FindError::Unwritable)
    };
    let find = |part: Part| output.format_part(&part);
    if bytes.is_some() {
        process_in_order(parts, find, write)?;
    } else {
        parts.try_for_each(|part| write(find(part?)))?;
    }
    drop(progress);
    if is_utf_16 && args.redact && !args.check {
        show_note(&format!("note: {} is in UTF-16; the output is in UTF-8", file.display()));
    }
    Ok(found > 0)
}

/// The part of a file that shows whether it is binary, as in Git.
const HEAD_BYTES: u64 = 8000;

fn is_binary(head: &[u8]) -> bool {
    Encoding::for_bom(head).is_none() && head.contains(&0)
}

pub struct Found<'a> {
    /// In bytes.
    pub start: usize,
    pub tn: &'a str,
    pub number: PhoneNumber,
}

/// The numbers in a line. Skips invalid UTF-8.
pub fn find_in_line(
    line: &[u8],
    country: DefaultCountry,
    leniency: Leniency,
) -> Result<Vec<Found<'_>>, RulesError> {
    let (mut found, mut start) = (Vec::new(), 0);
    for chunk in line.utf8_chunks() {
        let text = chunk.valid();
        for number in find_numbers(text, country, leniency) {
            let NumberInText { range, number } = number?;
            found.push(Found { start: start + range.start, tn: &text[range], number });
        }
        start += text.len() + chunk.invalid().len();
    }
    Ok(found)
}
