//! Imports the NANPA and CNAC reports: turns them into records and publishes them.
//!
//! Data flows one way. [`sources`] opens a file, [`table`] finds its columns, and a module in [`reports`] parses its
//! rows. [`assemble`] builds a dataset, [`changes`] compares it with the current one, [`quality`] measures its
//! completeness and describes each report, and [`gates`] may refuse it. [`publish`] writes the items that changed,
//! [`history`] adds the changes to the history, and [`outcome`] defines the report. Finally [`verify`] compares the
//! items with the snapshot. [`countries`] imports other countries' ranges.

mod assemble;
mod carrier_types;
mod changes;
mod countries;
mod error;
mod gates;
mod history;
mod import;
mod item_writes;
mod lambda;
mod notes;
mod options;
mod outcome;
mod publish;
mod quality;
mod reports;
mod rollback;
mod sources;
mod table;
#[cfg(test)]
mod tests;
mod verify;
mod verify_history;

use std::sync::Arc;

use numbering::dataset::Dataset;
use numbering::records::Version;
use store::{Manifest, Snapshot, Store};

use self::{
    gates::{Baseline, GateResult, MeasuredVersion},
    history::Recorder,
    notes::Notes,
    options::Clock,
    sources::read_sources,
};

pub use changes::{Changes, Delta, Differences, MAX_LISTED};
pub use countries::{
    CountryReport, CountrySources, SupportedCountry, country_sources, import_countries,
};
pub use error::{IngestError, ReportError};
pub use gates::{AllowedGates, Gate};
pub use import::import;
pub use item_writes::Items;
pub use lambda::{Event, handle};
pub use notes::Warning;
pub use options::{DEFAULT_HISTORY_DAYS, Options, Progress, Repair};
pub use outcome::{ImportReport, Outcome};
pub use quality::{
    BeforeAfter, ColumnCounts, CompanyCount, Coverage, ExchangesByBasis, Figures, Quality,
    QualityReport, SHARES, TypeCoverage,
};
pub use rollback::rollback;
pub use sources::{Mirror, Source, Sources, published_url};
pub use store::ReportName;
pub use verify::{Drift, Verification, unreadable_countries, verify};
pub use verify_history::{HistoryDrift, HistoryVerification};

/// Imports `sources` as the current version, or changes nothing. A refusal by a gate is an outcome, not an error.
pub async fn ingest(
    store: &Store,
    sources: &Sources,
    options: Options,
    progress: impl Fn(Progress),
) -> Result<ImportReport, IngestError> {
    let clock = Clock::new(options.now);
    let mut notes = Notes::default();
    let (mut rows, reports) = read_sources(sources, options, &mut notes, &progress).await?;
    progress(Progress::Comparing);
    if options.replace_manifest && !options.dry_run && store.replace_unreadable_manifest().await? {
        notes.warn(
            "the manifest could not be read and was replaced",
            "the import counts as the first one",
        );
    }
    let baseline = Baseline::load(store, &mut notes).await?;
    for &country in &notes.countries_without_blocks {
        rows.blocks.extend(assemble::blocks_in(&baseline.dataset, country));
    }
    let assembled = assemble::assemble(rows, &mut notes);
    let version = Version::new(options.now);
    let dataset = Arc::new(assembled.into_successor(&baseline.dataset, version.clone()));
    let changes = Changes::between(&baseline.dataset, &dataset);
    let bytes = dataset.pack()?;
    let quality = Quality::new(&dataset);
    let current = baseline.snapshot.as_ref().map(|snapshot| &snapshot.reports);
    let reports = reports::with_findings(reports, current, &notes, &dataset, &quality);
    let statistics = dataset.statistics();
    let snapshot = Snapshot::new(version, &bytes, statistics, reports.clone(), options.now);

    let has_changes = !changes.keys.is_empty();
    let compared = baseline.compared_versions(store, &snapshot, has_changes).await?;
    let measured = |(snapshot, dataset)| MeasuredVersion { snapshot, dataset };
    let older: Vec<_> =
        compared.iter().map(|(snapshot, dataset)| measured((snapshot, dataset))).collect();
    let next = measured((&snapshot, &dataset));
    let refusals = gates::run_gates(&older, next, &quality, &notes, options.strict);
    let gates = GateResult::new(refusals, options.allow);

    let quality_before = (!compared.is_empty()).then(|| Quality::new(&baseline.dataset));
    let quality = QualityReport::between(quality_before.as_ref(), &quality);
    let replaces_sample = baseline.snapshot.is_some() && compared.is_empty();
    let reported =
        if replaces_sample { Changes::between(&Arc::default(), &dataset) } else { changes.clone() };
    let snapshot = Snapshot { confirmed: gates.confirms_changes, ..snapshot };
    let report = |notes| ImportReport {
        replaces_sample,
        ..ImportReport::new(&snapshot, &dataset, reported, quality, notes)
    };

    if let Some(outcome) = gates.unpublished(options.dry_run) {
        let version = baseline.manifest.map(|manifest| manifest.current.version);
        return Ok(ImportReport { outcome, version, ..report(notes) });
    }
    let recorder = Recorder { store, options, clock, progress: &progress };
    let is_unreadable = |older: &Version| baseline.is_unreadable(older);
    let (outcome, manifest, items) = match baseline.manifest_to_reimport() {
        Some(current) if !has_changes => {
            let mut manifest = current.after_reimport(options.now, reports, is_unreadable);
            recorder.record_earlier(&mut manifest, &mut notes).await;
            progress(Progress::Publishing);
            store.publish(&manifest, &current.revision).await?;
            (Outcome::Unchanged, manifest, Items::default())
        }
        _ => {
            let replaced = baseline.manifest.as_ref();
            let mut manifest = Manifest::new(replaced, snapshot.clone(), is_unreadable);
            let publishing =
                publish::publish(&baseline, &recorder, &mut manifest, &bytes, &changes, &mut notes);
            let items = publishing.await?;
            (Outcome::Published, manifest, items)
        }
    };
    publish::sweep(store, options.now).await;
    let unrecorded = manifest.unrecorded.len();
    let version = Some(manifest.current.version);
    Ok(ImportReport { outcome, version, items, unrecorded, ..report(notes) })
}

/// Reads a dataset from reports without comparing or publishing it.
pub async fn read_dataset(sources: &Sources) -> Result<Dataset, IngestError> {
    let mut notes = Notes::default();
    let (rows, _) = read_sources(sources, Options::default(), &mut notes, &|_| ()).await?;
    Ok(assemble::assemble(rows, &mut notes))
}
