//! The table of reports, and their parsers. A report's rows are codes, area codes, carriers or blocks.

pub(crate) mod blocks;
pub(crate) mod codes;
pub(crate) mod npa_report;
pub(crate) mod overlay;

use jiff::civil::Date;
use numbering::{
    dataset::Dataset,
    records::{Country, Npa, StateCode},
};
use store::{ImportedReport, ImportedReports, ReportName};

use self::{blocks::AssignedBlock, codes::CodeRow, npa_report::AreaCodeRow, overlay::OverlayRow};
use crate::{
    error::ReportError,
    notes::{Findings, Notes},
    quality::{Figure, Quality, SHARES, TYPE_SHARE},
    table::{Format, Row},
};

/// Every report, in the order in which they are read.
pub(crate) static REPORTS: [Report; 6] =
    [codes::NANPA, codes::CNAC, npa_report::REPORT, overlay::REPORT, blocks::NANPA, blocks::CNAC];

pub(crate) struct Report {
    pub format: Format,
    /// The publisher's URL; `None` for the operator's own report.
    pub published_at: Option<&'static str>,
    /// `true` if every import requires the report.
    pub is_required: bool,
    /// The country whose current blocks remain if the report is unreadable. Other reports must be readable.
    pub keeps_blocks_in: Option<Country>,
    /// Parses a row. Adds nothing if the row is skipped.
    pub parse_row: fn(&Row<'_>, &mut ReportRows, &mut Notes) -> Result<(), ReportError>,
    /// Counts and percentages of the report's records.
    pub figures: fn(&Dataset, &Quality) -> Vec<Figure>,
}

#[derive(Debug, Default)]
pub(crate) struct ReportRows {
    pub codes: Vec<CodeRow>,
    pub area_codes: Vec<AreaCodeRow>,
    pub overlay: Vec<OverlayRow>,
    pub blocks: Vec<AssignedBlock>,
}

impl ReportRows {
    /// Returns `true` if no row yields an exchange, or an exchange's area code or holder.
    fn are_unusable(&self) -> bool {
        let Self { codes, area_codes, overlay, blocks } = self;
        let has_exchanges = area_codes.iter().any(AreaCodeRow::has_exchanges);
        codes.is_empty() && !has_exchanges && overlay.is_empty() && blocks.is_empty()
    }

    pub fn append(&mut self, mut other: Self) {
        self.codes.append(&mut other.codes);
        self.area_codes.append(&mut other.area_codes);
        self.overlay.append(&mut other.overlay);
        self.blocks.append(&mut other.blocks);
    }
}

impl Report {
    /// Parses the text. Calls `on_row` with the number of rows read so far.
    pub fn read(
        &self,
        text: &[u8],
        notes: &mut Notes,
        on_row: impl Fn(u64),
    ) -> Result<(ReportRows, Option<Date>), ReportError> {
        let (mut rows, mut count) = (ReportRows::default(), 0);
        let parse = |row: &Row<'_>, notes: &mut Notes| {
            count += 1;
            on_row(count);
            (self.parse_row)(row, &mut rows, notes)
        };
        let date = self.format.read(text, notes, parse)?;
        // A block report may list only unassigned blocks.
        if rows.are_unusable() && self.keeps_blocks_in.is_none() {
            return Err(self.format.error("has no usable rows"));
        }
        Ok((rows, date))
    }
}

pub(crate) fn file(name: ReportName) -> &'static str {
    let report = REPORTS.iter().find(|report| report.format.name == name);
    report.map_or("", |report| report.format.file)
}

/// Parses a postal code, or the reports' own code for the Northern Mariana Islands. Ignores states in other countries.
fn state(
    row: &Row<'_>,
    column: usize,
    country: Option<Country>,
    notes: &mut Notes,
) -> Option<StateCode> {
    let state: StateCode = match row.cells[column].as_ref() {
        "NN" | "CNMI" => "MP".parse().expect("MP is the postal code of a US territory"),
        _ => row.parse_if_known(column, notes)?,
    };
    if country.is_some_and(|country| country != state.country()) {
        row.warn(notes, column, "is in another country and is ignored");
        return None;
    }
    Some(state)
}

/// Returns `true` if a row's area code is possible in the NANP. Otherwise, counts the row as skipped.
fn has_possible_npa(row: &Row<'_>, column: usize, npa: Npa, notes: &mut Notes) -> bool {
    if !npa.can_be_area_code() {
        row.skip(notes, column, "has an impossible area code");
    }
    npa.can_be_area_code()
}

/// Adds the findings to the reports that were read. If a report is unreadable and its country's blocks remain, adds
/// the current report.
pub(crate) fn with_findings(
    mut read: ImportedReports,
    current: Option<&ImportedReports>,
    notes: &Notes,
    dataset: &Dataset,
    quality: &Quality,
) -> ImportedReports {
    let mut reports = ImportedReports::default();
    for report in &REPORTS {
        let name = report.format.name;
        let is_kept = report.keeps_blocks_in;
        let is_kept = is_kept.is_some_and(|it| notes.countries_without_blocks.contains(&it));
        let mut described = match read.0.remove(&name) {
            Some(read) => with_rows(read, notes.reports.get(&name)),
            None => match current.and_then(|current| current.0.get(&name)) {
                Some(current) if is_kept => current.clone(),
                _ => continue,
            },
        };
        // Blocks in removed exchanges do not remain, so even an earlier report is counted again.
        (described.counts, described.percentages) = Default::default();
        for (figure, value) in (report.figures)(dataset, quality) {
            if SHARES.contains(&figure) || figure == TYPE_SHARE {
                described.percentages.insert(figure.to_owned(), value);
            } else {
                described.counts.insert(figure.to_owned(), value as u32);
            }
        }
        reports.0.insert(name, described);
    }
    reports
}

fn with_rows(report: ImportedReport, findings: Option<&Findings>) -> ImportedReport {
    let Some(findings) = findings else { return report };
    let unknown = findings.all_unknown_values();
    ImportedReport {
        rows: findings.rows,
        skipped: findings.skipped.clone(),
        unknown_values: unknown.map(|(&column, it)| (column.to_owned(), it.count)).collect(),
        ..report
    }
}
