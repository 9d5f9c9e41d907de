//! Reads all reports.

use std::time::Instant;

use jiff::Timestamp;
use logging::with_causes;
use store::{ImportedReport, ImportedReports};

use crate::{
    IngestError, Options, Progress, Source, Sources,
    notes::Notes,
    reports::{REPORTS, Report, ReportRows},
};

pub(crate) async fn read_sources(
    sources: &Sources,
    Options { deadline, now, .. }: Options,
    notes: &mut Notes,
    progress: &impl Fn(Progress),
) -> Result<(ReportRows, ImportedReports), IngestError> {
    let (mut rows, mut reports) = (ReportRows::default(), ImportedReports::default());
    for report in &REPORTS {
        let name = report.format.name;
        let Some(source) = sources.get(name) else { continue };
        let (read, imported) = match read(report, source, (deadline, now), notes, progress).await {
            Ok(read) => read,
            Err(error @ (IngestError::OutOfTime | IngestError::TooSlow { .. })) => {
                return Err(error);
            }
            Err(error) => {
                let Some(country) = report.keeps_blocks_in else { return Err(error) };
                notes.countries_without_blocks.push(country);
                let kind =
                    format!("{} cannot be read; the current blocks are kept", report.format.file);
                notes.warn(kind, with_causes(&error));
                continue;
            }
        };
        if report.is_required && imported.date.is_none() {
            notes.warn("a report has no date", report.format.file);
        }
        rows.append(read);
        reports.0.insert(name, imported);
    }
    Ok((rows, reports))
}

async fn read(
    report: &Report,
    source: &Source,
    (deadline, now): (Option<Instant>, Timestamp),
    notes: &mut Notes,
    progress: &impl Fn(Progress),
) -> Result<(ReportRows, ImportedReport), IngestError> {
    let file = report.format.file;
    let on_received = |bytes, total| progress(Progress::Fetching { file, bytes, total });
    let content = source.open(file, deadline, on_received).await?;
    let (bytes, sha256) = (content.len(), content.sha256());
    progress(Progress::Reading { file, rows: 0 });
    let on_line = |rows| progress(Progress::Reading { file, rows });
    let (rows, date) = content.read(on_line, |text| report.read(text, notes))?;
    let (address, read_at) = (source.public_address(), now);
    let imported =
        ImportedReport { address, date, read_at, bytes, sha256, ..ImportedReport::default() };
    Ok((rows, imported))
}
