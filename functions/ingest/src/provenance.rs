//! The findings in each report that `/v1/sources` lists: rows, skipped rows, unknown values and completeness.

use numbering::dataset::Dataset;
use store::{ImportedReport, ImportedReports};

use crate::{
    notes::{Findings, Notes},
    quality::{Quality, is_percentage},
    reports::REPORTS,
};

/// Adds the findings to the reports that were read. For each report whose blocks stay because it cannot be read, adds the
/// current one.
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
        let described = match read.0.remove(&name) {
            Some(read) => with_rows(read, notes.reports.get(&name)),
            None => match current.and_then(|current| current.0.get(&name)) {
                Some(current) if is_kept => current.clone(),
                _ => continue,
            },
        };
        // Blocks in removed exchanges do not stay, so even an earlier report is counted anew.
        let figures = (report.figures)(dataset, quality).into_iter();
        let (percentages, counts): (Vec<_>, Vec<_>) =
            figures.partition(|(name, _)| is_percentage(name));
        let owned = |(name, value): (&str, f64)| (name.to_owned(), value);
        let described = ImportedReport {
            counts: counts
                .into_iter()
                .map(|(name, count)| (name.to_owned(), count as u32))
                .collect(),
            percentages: percentages.into_iter().map(owned).collect(),
            ..described
        };
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

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use numbering::records::{AreaCode, BlockHolder, Country, Exchange, NumberingPlan, Status};
    use store::ReportName;

    use super::*;
    use crate::quality::tests::{area_code, carrier, exchange};

    fn pooled(npa_nxx: &str) -> Exchange {
        Exchange {
            blocks: [3, 4].map(|digit| (digit, BlockHolder::sample("0001"))).into(),
            ..exchange(npa_nxx, Some("0001"), "SNFC", Status::Assigned)
        }
    }

    #[test]
    fn each_report_has_its_own_findings_and_unread_ones_those_of_the_blocks_that_stay() {
        let planned = NumberingPlan { is_in_service: false, ..NumberingPlan::default() };
        let planned = AreaCode { plan: Box::new(planned), ..area_code("999", 0) };
        let in_canada = Exchange { country: Country::Ca, ..pooled("416-200") };
        let unassigned = exchange("415-201", None, "", Status::Unassigned);
        let dataset = Dataset::new(
            vec![carrier("0001", "A", 1)],
            vec![area_code("415", 2), planned],
            vec![pooled("415-200"), unassigned, in_canada],
        );
        let mut notes = Notes::default();
        let nanpa = notes.in_report(ReportName::Nanpa);
        nanpa.rows = 9;
        nanpa.unknown_values.entry("Use").or_default().count("'ZZ'");
        (0..3).for_each(|_| notes.skip(ReportName::Nanpa, "blank rows"));
        notes.skip(ReportName::Cnac, "other rows");
        let read = [ReportName::Nanpa, ReportName::NpaReport, ReportName::ThousandsBlocks];
        let read = ImportedReports(read.map(|name| (name, ImportedReport::default())).into());
        let counts = [("blocks".to_owned(), 9), ("pooled_exchanges".to_owned(), 8)].into();
        let earlier = ImportedReport { rows: 7, counts, ..ImportedReport::default() };
        let current = ImportedReports([(ReportName::CanadianBlocks, earlier)].into());
        let quality = Quality::new(&dataset);
        let mut text = String::new();
        for unread in [vec![], vec![Country::Ca]] {
            notes.countries_without_blocks = unread;
            for current in [Some(&current), Some(&ImportedReports::default()), None] {
                let reports = with_findings(read.clone(), current, &notes, &dataset, &quality);
                for (name, it) in reports.0 {
                    let ImportedReport { rows, skipped, unknown_values, .. } = &it;
                    writeln!(text, "{name} {rows} {skipped:?} {unknown_values:?}").unwrap();
                    writeln!(text, "  {:?} {:?}", it.counts, it.percentages).unwrap();
                }
                text += "\n";
            }
        }
        insta::assert_snapshot!(text);
    }
}
