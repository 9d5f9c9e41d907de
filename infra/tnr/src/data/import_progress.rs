//! The stages of an import, rollback or verification.

use ingest::Progress as Step;

use crate::terminal::progress::{Progress, Unit};

pub async fn with_progress<T>(work: impl AsyncFnOnce(&dyn Fn(Step)) -> T) -> T {
    let progress = Progress::new();
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
