//! Ingest: turns the NANPA and CNAC reports into records, and publishes them.
//!
//! Data flows one way. [`sources`] opens a file, [`table`] finds its columns, and a module of [`reports`] reads its
//! rows. [`assemble`] builds a dataset, [`changes`] compares it with the current one, [`quality`] measures its
//! completeness, and [`gates`] may refuse it. [`publish`] writes the items that changed, and [`outcome`] reports on
//! everything. Finally [`verify`] compares the items with the snapshot.

mod assemble;
mod changes;
mod error;
mod gates;
mod lambda;
mod options;
mod outcome;
mod overtaken;
mod publish;
mod quality;
mod reports;
mod rollback;
mod sources;
mod table;
mod verify;

use std::{sync::Arc, time::Instant};

use numbering::dataset::Dataset;
use numbering::records::Version;
use store::{FileDates, Snapshot, Store};

use self::{
    assemble::ReportRows,
    changes::Comparison,
    gates::{MeasuredVersion, Verdict},
    outcome::Notes,
    publish::{Baseline, Candidate},
    reports::{cnac, nanpa, npa_report, overlay, thousands_blocks},
    sources::Received,
    table::{Dated, Report},
};

pub use changes::{
    ChangeKind, Changes, Delta, Differences, FieldChange, MAX_LISTED, RecordChange, RecordKind,
};
pub use error::{IngestError, ReportError};
pub use gates::{Percent, PercentError, Waivers};
pub use lambda::{Event, RequestError, handle};
pub use options::{Options, Progress};
pub use outcome::{ImportReport, Items, Outcome, Warning};
pub use overtaken::ingest_after_others;
pub use quality::{BeforeAfter, Coverage, Figures, Quality, QualityReport, SHARES, Values};
pub use rollback::{RollbackTarget, rollback};
pub use sources::{
    Mirror, MirrorError, NamedSources, PUBLISHED_ADDRESSES, RemoteSource, Source, SourceError,
    Sources,
};
pub use verify::{Drift, Repair, Verification, verify};

/// Imports `sources` as the current version, all or nothing. A refusal by a gate is not an error, but
/// [`Outcome::Refused`].
pub async fn ingest(
    store: &Store,
    sources: &Sources,
    options: Options,
    progress: impl Fn(Progress),
) -> Result<ImportReport, IngestError> {
    let mut notes = Notes::default();
    let (rows, file_dates) = read_sources(sources, options.deadline, &mut notes, &progress).await?;
    progress(Progress::Comparing);
    let assembled = assemble::assemble(rows, &mut notes);
    if options.replace_manifest && !options.dry_run && store.replace_unreadable_manifest().await? {
        notes.warn(
            "the manifest could not be read and is replaced",
            "this counts as the first import",
        );
    }
    let baseline = Baseline::load(store, &mut notes).await?;
    let mut comparison = Comparison::between(&baseline.dataset, &assembled);
    let changed_keys = comparison.changed_keys.clone();
    let version = Version::new(options.now);
    let dataset = Arc::new(assembled.following(&baseline.dataset, version.clone()));
    let bytes = dataset.pack()?;
    let snapshot = Snapshot::new(version, &bytes, dataset.statistics(), file_dates, options.now);
    let compared = baseline.compared_with(&snapshot);
    let replaces_sample = baseline.snapshot.is_some() && compared.is_none();

    let quality = Quality::new(&dataset);
    let oldest = match compared {
        Some(_) if !changed_keys.is_empty() => baseline.oldest_before(store, &snapshot).await?,
        _ => None,
    };
    let previous =
        compared.map(|snapshot| MeasuredVersion { snapshot, dataset: &baseline.dataset });
    let oldest = oldest.as_ref().map(|(snapshot, dataset)| MeasuredVersion { snapshot, dataset });
    let older: Vec<_> = previous.into_iter().chain(oldest).collect();
    let next = MeasuredVersion { snapshot: &snapshot, dataset: &dataset };
    let refusals = gates::check(&older, next, &quality, &notes);
    let verdict = Verdict::new(&refusals, options.waivers);
    let baseline_quality = compared.map(|_| Quality::new(&baseline.dataset));
    let quality = QualityReport::between(baseline_quality.as_ref(), &quality);
    let snapshot = Snapshot { confirmed: verdict.confirms_changes, ..snapshot };
    let mut before = Arc::clone(&baseline.dataset);
    if replaces_sample {
        before = Arc::default();
        comparison = Comparison::between(&before, &dataset);
    }
    let report = ImportReport::new(&snapshot, before, &dataset, comparison, quality, notes);
    let report = ImportReport { replaces_sample, ..report };

    if !verdict.reasons.is_empty() || options.dry_run {
        let outcome = if verdict.reasons.is_empty() {
            Outcome::Planned
        } else {
            let Verdict { reasons, allowed_by, .. } = verdict;
            Outcome::Refused { reason: reasons.join("\n"), allowed_by }
        };
        let version = baseline.current_version();
        return Ok(ImportReport { outcome, version, ..report });
    }
    let (outcome, manifest, items) = match baseline.manifest_to_reimport() {
        Some(current) if changed_keys.is_empty() => {
            let manifest = baseline.manifest_of_reimport(current, options.now, file_dates);
            progress(Progress::Publishing);
            store.publish(&manifest, &current.revision).await?;
            (Outcome::Unchanged, manifest, Items::default())
        }
        _ => {
            let manifest = baseline.manifest_followed_by(snapshot);
            let candidate = Candidate {
                manifest: &manifest,
                dataset: &dataset,
                changed_keys: &changed_keys,
                bytes,
            };
            let items =
                publish::publish(store, &baseline, candidate, options.deadline, &progress).await?;
            (Outcome::Published, manifest, items)
        }
    };
    publish::sweep(store, options.now).await;
    let version = Some(manifest.current.version);
    Ok(ImportReport { outcome, version, items, ..report })
}

/// The dataset of these reports, without comparing or publishing it.
pub async fn dataset_of(sources: &Sources) -> Result<Dataset, IngestError> {
    let mut notes = Notes::default();
    let (rows, _) = read_sources(sources, None, &mut notes, &|_| ()).await?;
    Ok(assemble::assemble(rows, &mut notes))
}

/// Reads every source, and returns the rows with the reports' dates.
async fn read_sources(
    sources: &Sources,
    deadline: Option<Instant>,
    notes: &mut Notes,
    progress: &impl Fn(Progress),
) -> Result<(ReportRows, FileDates), IngestError> {
    let mut reader = SourceReader { deadline, notes, progress };
    let (mut codes, nanpa) = reader.read(&sources.nanpa, &nanpa::REPORT).await?;
    let (canadian_codes, cnac) = reader.read(&sources.cnac, &cnac::REPORT).await?;
    codes.extend(canadian_codes);
    let (area_codes, npa_report) = reader.read(&sources.npa_report, &npa_report::REPORT).await?;
    let overlay = match &sources.carriers {
        Some(source) => reader.read(source, &overlay::REPORT).await?.0,
        None => Vec::new(),
    };
    let blocks = match &sources.thousands_blocks {
        Some(source) => reader.read(source, &thousands_blocks::REPORT).await?.0,
        None => Vec::new(),
    };
    let file_dates = FileDates { nanpa, cnac, npa_report };
    for (file, date) in gates::by_file(file_dates) {
        if date.is_none() {
            notes.warn("a report states no date", file);
        }
    }
    Ok((ReportRows { codes, area_codes, overlay, blocks }, file_dates))
}

/// Reads the sources one by one.
struct SourceReader<'a, P> {
    deadline: Option<Instant>,
    notes: &'a mut Notes,
    progress: &'a P,
}

impl<P: Fn(Progress)> SourceReader<'_, P> {
    async fn read<const N: usize, T>(
        &mut self,
        source: &Source,
        report: &Report<N, T>,
    ) -> Result<Dated<T>, IngestError> {
        let (file, progress) = (report.schema.file, self.progress);
        let received =
            |Received { bytes, total }| progress(Progress::Fetching { file, bytes, total });
        let content = source.open(file, self.deadline, received).await?;
        progress(Progress::Reading { file, rows: 0 });
        let read = |rows| progress(Progress::Reading { file, rows });
        content.read(read, |text| report.read(text, self.notes))
    }
}
