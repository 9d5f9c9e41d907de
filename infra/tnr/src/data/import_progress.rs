//! The expected time of an import, and the stages of an import, rollback or verification.

use std::fs;

use ingest::{Progress as Step, ReportName, Source, Sources};

use crate::terminal::progress::{Lines, Progress, Unit};

/// Reports with fewer bytes are imported in seconds; the published ones have 3 MB.
const MIN_LARGE_BYTES: u64 = 1_000_000;

/// The expected time of an import. The minutes and seconds are the processor time that the published reports take in a
/// debug build.
pub fn expected_time(sources: &Sources, is_first: bool, is_dry_run: bool) -> &'static str {
    let reports = sources.iter().filter(|(name, _)| *name != ReportName::Carriers);
    let bytes: u64 = reports.map(|(_, source)| bytes(source)).sum();
    match (bytes >= MIN_LARGE_BYTES, is_first && !is_dry_run) {
        (false, _) => "This import takes a few seconds.",
        (true, true) => "The first import takes about 2 minutes, or longer on a busy machine.",
        (true, false) => "This import takes about 20 seconds.",
    }
}

/// A report's size. One that is fetched counts as large.
fn bytes(source: &Source) -> u64 {
    match source {
        Source::File(file) => fs::metadata(file).map_or(0, |file| file.len()),
        Source::Embedded(bytes) => bytes.len() as u64,
        _ => MIN_LARGE_BYTES,
    }
}

/// Runs `work`, and shows its progress.
pub async fn with_progress<T>(work: impl AsyncFnOnce(&dyn Fn(Step)) -> T) -> T {
    let progress = Progress::new(Lines::ByStage);
    work(&|step| show(&progress, step)).await
}

fn show(progress: &Progress, step: Step) {
    match step {
        Step::Fetching { file, bytes, total } => {
            progress.start(format!("Fetching {file}"), Unit::Bytes, total);
            progress.set(bytes);
        }
        Step::Reading { file, rows } => {
            progress.start(format!("Reading {file}"), Unit::Count("rows"), None);
            progress.set(rows);
        }
        Step::Comparing => progress.start("Comparing with the current data", Unit::Time, None),
        Step::Planned { phase, items } => {
            progress.start(phase, Unit::Count("items"), Some(items as u64));
        }
        Step::Written(items) => progress.add(items as u64),
        Step::Publishing => progress.start("Publishing", Unit::Time, None),
        Step::Verifying => {
            progress.start("Comparing items with the current data", Unit::Time, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::iter::repeat_n;

    use super::*;
    use crate::data::sample::sample;

    #[test]
    fn only_first_imports_of_large_reports_take_minutes() {
        let folder = tempfile::TempDir::new().unwrap();
        let of_length = |bytes: usize| {
            let file = folder.path().join(bytes.to_string());
            fs::write(&file, repeat_n(b' ', bytes).collect::<Vec<_>>()).unwrap();
            Source::File(file)
        };
        let rest: u64 = [ReportName::Cnac, ReportName::NpaReport]
            .map(|name| bytes(sample().get(name).unwrap()))
            .iter()
            .sum();
        let missing = (MIN_LARGE_BYTES - rest) as usize;
        let fetched = "https://a.example/a.zip".parse().unwrap();
        for (nanpa, is_first, is_dry_run, expected) in [
            (of_length(missing - 1), true, false, "This import takes a few seconds."),
            (of_length(missing), true, true, "This import takes about 20 seconds."),
            (of_length(missing), false, false, "This import takes about 20 seconds."),
            (of_length(missing), true, false, "The first import takes about 2 minutes"),
            (fetched, true, false, "The first import takes about 2 minutes"),
        ] {
            let sources = sample().with(ReportName::Nanpa, nanpa);
            let expected_time = expected_time(&sources, is_first, is_dry_run);
            assert!(expected_time.starts_with(expected), "{expected_time}");
        }
    }
}
