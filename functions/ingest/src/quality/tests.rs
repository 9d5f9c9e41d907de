use std::fmt::Write;

use numbering::records::{AreaCode, BlockHolder, NumberingPlan, OwnedExchanges};
use store::{ImportedReport, ImportedReports, ReportName};

use super::*;
use crate::{notes::Notes, reports::with_findings};

pub(crate) fn exchange(
    npa_nxx: &str,
    ocn: Option<&str>,
    rate_center: &str,
    status: Status,
) -> Exchange {
    Exchange {
        ocn: ocn.map(|ocn| ocn.parse().unwrap()),
        company_name: ocn.map(|ocn| format!("Company {ocn}")),
        rate_center: Some(rate_center.to_owned()).filter(|name| !name.is_empty()),
        state: "CA".parse().ok(),
        status,
        ..Exchange::sample(npa_nxx)
    }
}

pub(crate) fn carrier(ocn: &str, company_name: &str, exchanges: u32) -> Carrier {
    Carrier {
        company_name: Some(company_name.to_owned()).filter(|name| !name.is_empty()),
        exchanges: OwnedExchanges { total: exchanges, by_state: BTreeMap::new() },
        ..Carrier::sample(ocn)
    }
}

pub(crate) fn area_code(npa: &str, total_exchanges: u32) -> AreaCode {
    AreaCode { total_exchanges, ..AreaCode::sample(npa) }
}

fn quality(exchanges: Vec<Exchange>) -> Quality {
    Quality::new(&Dataset::new(vec![carrier("0051", "A", 1)], Vec::new(), exchanges))
}

#[test]
fn percentages_are_rounded_to_the_nearest_hundredth() {
    let rounded = [(1, 3), (2, 3), (1, 1), (0, 3), (0, 0)].map(|(a, b)| rounded_percent(a, b));
    assert_eq!(rounded, [33.33, 66.67, 100.0, 0.0, 0.0]);
}

/// Exchanges in two versions, and carriers whose types come from different sources.
#[test]
fn coverage_and_types_are_counted_by_country_and_compared() {
    let assigned = |npa_nxx, ocn| exchange(npa_nxx, ocn, "SNFC", Status::Assigned);
    let before = quality(vec![
        assigned("415-200", Some("0051")),
        exchange("415-201", Some("0051"), "", Status::Unassigned),
    ]);
    let typed = |ocn, basis, exchanges| Carrier {
        type_basis: Some(basis),
        ..carrier(ocn, "Typed", exchanges)
    };
    let carriers = vec![
        typed("0001", TypeBasis::CompanyFamily, 5),
        typed("0002", TypeBasis::CompanyName, 2),
        typed("0003", TypeBasis::CompanyFamily, 1),
        carrier("0004", "B", 2),
        carrier("0005", "A", 3),
        carrier("0006", "B", 2),
        carrier("0007", "", 1),
    ];
    let exchanges = vec![
        assigned("415-200", None),
        assigned("415-201", Some("0005")),
        exchange("916-200", None, "DAVIS", Status::Assigned),
    ];
    let after = Quality::new(&Dataset::new(carriers, Vec::new(), exchanges));
    let first = QualityReport::between(None, &after);
    assert_eq!(first.countries[&Country::Us]["records"].before, None);
    let report = QualityReport::between(Some(&before), &after);
    let text = serde_json::to_string_pretty(&(&after.by_country, report)).unwrap();
    insta::assert_snapshot!(text);
}

fn pooled(npa_nxx: &str) -> Exchange {
    Exchange {
        blocks: [3, 4].map(|digit| (digit, BlockHolder::sample("0001"))).into(),
        ..exchange(npa_nxx, Some("0001"), "SNFC", Status::Assigned)
    }
}

#[test]
fn each_report_has_its_own_findings_and_unread_reports_keep_findings_for_retained_blocks() {
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
    let nanpa = notes.findings_mut(ReportName::Nanpa);
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
