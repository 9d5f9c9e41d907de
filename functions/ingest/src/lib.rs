//! Imports the NANPA and CNAC reports: turns them into records and publishes them.
//!
//! Data flows one way. [`sources`] opens a file, [`table`] finds its columns, and a module in [`reports`] parses its
//! rows. [`assemble`] builds a dataset, [`changes`] compares it with the current one, [`quality`] measures its
//! completeness, [`provenance`] describes each report, and [`gates`] may refuse it. [`publish`] writes the items that
//! changed, [`history`] adds the changes to the history, and [`outcome`] defines the report. Finally [`verify`] compares the
//! items with the snapshot.

mod assemble;
mod carrier_types;
mod changes;
mod error;
mod gates;
mod history;
mod item_writes;
mod lambda;
mod options;
mod outcome;
mod provenance;
mod publish;
mod quality;
mod reports;
mod restarts;
mod rollback;
mod sources;
mod table;
#[cfg(test)]
mod tests;
mod verify;
mod verify_history;

use std::{sync::Arc, time::Instant};

use jiff::Timestamp;
use logging::with_causes;
use numbering::dataset::Dataset;
use numbering::records::{Country, Version};
use store::{ImportedReport, ImportedReports, Manifest, ReportName, Snapshot, Store};

use self::{
    assemble::ReportRows,
    gates::{MeasuredVersion, Verdict},
    history::Recorder,
    options::Clock,
    outcome::Notes,
    publish::{Baseline, Candidate},
    reports::{canadian_blocks, cnac, nanpa, npa_report, overlay, thousands_blocks},
    sources::Fingerprint,
    table::Report,
};

pub use carrier_types::{CompanyCount, ExchangesByBasis, TypeCoverage};
pub use changes::{Changes, Delta, Differences, MAX_LISTED};
pub use error::{IngestError, ReportError};
pub use gates::{Percent, Waivers};
pub use lambda::{Event, handle};
pub use options::{DEFAULT_HISTORY_DAYS, Options, Progress};
pub use outcome::{ImportReport, Items, Outcome, Warning};
pub use quality::{BeforeAfter, Coverage, Figures, Quality, QualityReport, SHARES, Values};
pub use restarts::ingest_with_restarts;
pub use rollback::{RollbackTarget, rollback};
pub use sources::{
    Mirror, PUBLISHED_BLOCK_URLS, PUBLISHED_URLS, Source, Sources, published_blocks,
};
pub use verify::{Drift, Repair, Verification, verify};
pub use verify_history::{HistoryDrift, HistoryVerification};

/// Imports `sources` as the current version, all or nothing. A refusal by a gate is an outcome, not an error.
pub async fn ingest(
    store: &Store,
    sources: &Sources,
    options: Options,
    progress: impl Fn(Progress),
) -> Result<ImportReport, IngestError> {
    let clock = Clock::new(options.now);
    let mut notes = Notes::default();
    let (mut rows, mut reports) = read_sources(sources, options, &mut notes, &progress).await?;
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
    let mut changes = Changes::between(&baseline.dataset, &dataset);
    let changed_keys = changes.keys.clone();
    let bytes = dataset.pack()?;
    let quality = Quality::new(&dataset);
    reports = provenance::with_findings(reports, &notes, &dataset, &quality);
    let current = baseline.snapshot.as_ref().map(|snapshot| &snapshot.reports);
    reports.0.extend(provenance::earlier_block_reports(current, &notes, &dataset, &quality));
    let statistics = dataset.statistics();
    let snapshot = Snapshot::new(version, &bytes, statistics, reports.clone(), options.now);

    let compared = baseline.compared_with(&snapshot);
    let oldest = match compared {
        Some(_) if !changed_keys.is_empty() => {
            baseline.oldest_unconfirmed(store, &snapshot).await?
        }
        _ => None,
    };
    let previous =
        compared.map(|snapshot| MeasuredVersion { snapshot, dataset: &baseline.dataset });
    let oldest = oldest.as_ref().map(|(snapshot, dataset)| MeasuredVersion { snapshot, dataset });
    let older: Vec<_> = previous.into_iter().chain(oldest).collect();
    let next = MeasuredVersion { snapshot: &snapshot, dataset: &dataset };
    let refusals = gates::run_gates(&older, next, &quality, &notes, options.strict);
    let Verdict { reasons, allowed_by, confirms_changes } =
        Verdict::new(&refusals, options.waivers);

    let baseline_quality = compared.map(|_| Quality::new(&baseline.dataset));
    let quality = QualityReport::between(baseline_quality.as_ref(), &quality);
    let replaces_sample = baseline.snapshot.is_some() && compared.is_none();
    if replaces_sample {
        changes = Changes::between(&Arc::default(), &dataset);
    }
    let snapshot = Snapshot { confirmed: confirms_changes, ..snapshot };
    let report = |changes, notes| ImportReport {
        replaces_sample,
        ..ImportReport::new(&snapshot, &dataset, changes, quality, notes)
    };

    if !reasons.is_empty() || options.dry_run {
        let outcome = match reasons.join("\n") {
            reason if reason.is_empty() => Outcome::Planned,
            reason => Outcome::Refused { reason, allowed_by },
        };
        let version = baseline.manifest.map(|manifest| manifest.current.version);
        return Ok(ImportReport { outcome, version, ..report(changes, notes) });
    }
    let recorder = Recorder::new(store, options, clock, &progress);
    let is_unreadable = |older: &Version| baseline.is_unreadable(older);
    let (outcome, manifest, items) = match baseline.manifest_to_reimport() {
        Some(current) if changed_keys.is_empty() => {
            let mut manifest = current.after_reimport(options.now, reports, is_unreadable);
            recorder.record_earlier(&mut manifest, &mut notes).await;
            progress(Progress::Publishing);
            store.publish(&manifest, &current.revision).await?;
            (Outcome::Unchanged, manifest, Items::default())
        }
        _ => {
            let replaced = baseline.manifest.as_ref();
            let mut manifest = Manifest::new(replaced, snapshot.clone(), is_unreadable);
            let candidate = Candidate {
                manifest: &mut manifest,
                dataset: &dataset,
                changed_keys: &changed_keys,
                bytes,
                changes: &changes,
            };
            let items = publish::publish(&baseline, candidate, &recorder, &mut notes).await?;
            (Outcome::Published, manifest, items)
        }
    };
    publish::sweep(store, options.now).await;
    let unrecorded = manifest.unrecorded.len();
    let version = Some(manifest.current.version);
    Ok(ImportReport { outcome, version, items, unrecorded, ..report(changes, notes) })
}

/// Reads a dataset from reports without comparing or publishing it.
pub async fn read_dataset(sources: &Sources) -> Result<Dataset, IngestError> {
    let mut notes = Notes::default();
    let (rows, _) = read_sources(sources, Options::default(), &mut notes, &|_| ()).await?;
    Ok(assemble::assemble(rows, &mut notes))
}

async fn read_sources(
    sources: &Sources,
    Options { deadline, now, .. }: Options,
    notes: &mut Notes,
    progress: &impl Fn(Progress),
) -> Result<(ReportRows, ImportedReports), IngestError> {
    let reports = ImportedReports::default();
    let mut reader = SourceReader { deadline, now, notes, reports, progress };
    let (nanpa, cnac) = (Some(&sources.nanpa), Some(&sources.cnac));
    let mut codes = reader.read(ReportName::Nanpa, nanpa, &nanpa::REPORT).await?;
    codes.extend(reader.read(ReportName::Cnac, cnac, &cnac::REPORT).await?);
    let npa_report = Some(&sources.npa_report);
    let area_codes = reader.read(ReportName::NpaReport, npa_report, &npa_report::REPORT).await?;
    let carriers = sources.carriers.as_ref();
    let overlay = reader.read(ReportName::Carriers, carriers, &overlay::REPORT).await?;
    let mut blocks = Vec::new();
    for (country, source, report) in [
        (Country::Us, &sources.thousands_blocks, &thousands_blocks::REPORT),
        (Country::Ca, &sources.canadian_blocks, &canadian_blocks::REPORT),
    ] {
        match reader.read(ReportName::blocks(country), source.as_ref(), report).await {
            Ok(read) => blocks.extend(read),
            Err(error @ (IngestError::OutOfTime | IngestError::TooSlow { .. })) => {
                return Err(error);
            }
            Err(error) => {
                reader.notes.countries_without_blocks.push(country);
                let kind = format!("{} cannot be read; the current blocks are kept", report.file);
                reader.notes.warn(kind, with_causes(&error));
            }
        }
    }
    let reports = reader.reports;
    for (file, date) in gates::dates_by_file(&reports) {
        if date.is_none() {
            notes.warn("a report has no date", file);
        }
    }
    Ok((ReportRows { codes, area_codes, overlay, blocks }, reports))
}

struct SourceReader<'a, P> {
    deadline: Option<Instant>,
    now: Timestamp,
    notes: &'a mut Notes,
    reports: ImportedReports,
    progress: &'a P,
}

impl<P: Fn(Progress)> SourceReader<'_, P> {
    /// Returns the report's rows, or none without a source.
    async fn read<const N: usize, T>(
        &mut self,
        name: ReportName,
        source: Option<&Source>,
        report: &Report<N, T>,
    ) -> Result<Vec<T>, IngestError> {
        let Some(source) = source else { return Ok(Vec::new()) };
        let (file, progress) = (report.file, self.progress);
        let on_received = |bytes, total| progress(Progress::Fetching { file, bytes, total });
        let content = source.open(file, self.deadline, on_received).await?;
        let Fingerprint { bytes, sha256 } = content.fingerprint.clone();
        progress(Progress::Reading { file, rows: 0 });
        let on_line = |rows| progress(Progress::Reading { file, rows });
        let (rows, date) = content.read(on_line, |text| report.read(text, self.notes))?;
        let (address, read_at) = (source.public_address(), self.now);
        let imported =
            ImportedReport { address, date, read_at, bytes, sha256, ..ImportedReport::default() };
        self.reports.0.insert(name, imported);
        Ok(rows)
    }
}
