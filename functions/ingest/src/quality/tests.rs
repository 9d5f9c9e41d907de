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

#[test]
fn coverage_is_measured_and_compared_by_country() {
    let assigned = |npa_nxx, ocn| exchange(npa_nxx, ocn, "SNFC", Status::Assigned);
    let before = quality(vec![
        assigned("415-200", Some("0051")),
        exchange("415-201", Some("0051"), "", Status::Unassigned),
    ]);
    let after = quality(vec![
        assigned("415-200", None),
        assigned("415-201", Some("0051")),
        exchange("916-200", None, "DAVIS", Status::Assigned),
    ]);
    let rate_centers = after.by_country[&Country::Us].columns["rate_centers"];
    assert_eq!(rate_centers, Values { filled: 3, distinct: 2, most_frequent: 2 });
    let report = QualityReport::between(Some(&before), &after);
    assert_eq!(report.countries.len(), 1);
    let us = &report.countries[&Country::Us];
    for (name, before, after) in [
        ("records", 2.0, 3.0),
        ("ocn", 100.0, 33.33),
        ("rate_center", 50.0, 100.0),
        ("unassigned", 50.0, 0.0),
        ("distinct_rate_centers", 1.0, 2.0),
    ] {
        let expected = BeforeAfter { before: Some(before), after: Some(after) };
        assert_eq!(us[name], expected, "{name}");
    }
    let first = QualityReport::between(None, &after);
    let records = first.countries[&Country::Us]["records"];
    assert_eq!(records, BeforeAfter { before: None, after: Some(3.0) });
}

#[test]
fn exchanges_are_counted_by_basis_and_untyped_companies_by_size() {
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
    let dataset = Dataset::new(carriers, Vec::new(), Vec::new());
    let TypeCoverage { by_country, largest_without_type } = TypeCoverage::new(&dataset);
    let us = &by_country[&Country::Us];
    let by_basis = [(TypeBasis::CompanyFamily, 6), (TypeBasis::CompanyName, 2)];
    assert_eq!((us.total(), us.without_type), (16, 8));
    assert_eq!(us.by_basis, BTreeMap::from(by_basis));
    let largest = largest_without_type.iter().map(|it| (&*it.company_name, it.exchanges));
    assert_eq!(largest.collect::<Vec<_>>(), [("B", 4), ("A", 3), ("0007", 1)]);
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
