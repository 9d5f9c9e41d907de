//! The findings in each report that `/v1/sources` lists: rows, skipped rows, unknown values and completeness.

use std::collections::BTreeMap;

use numbering::{
    dataset::Dataset,
    records::{Carrier, Country, TypeBasis},
};
use store::{ImportedReport, ImportedReports, ReportName};

use crate::{
    outcome::Notes,
    quality::{Coverage, Quality, SHARES},
    reports::file,
};

/// Adds the findings in their rows to `reports`.
pub(crate) fn with_findings(
    reports: ImportedReports,
    notes: &Notes,
    dataset: &Dataset,
    quality: &Quality,
) -> ImportedReports {
    let with_findings = |(name, report)| {
        let file = file(name);
        let skipped = notes.skipped.iter().filter(|((in_file, _), _)| *in_file == file);
        let unknown = notes.unknown_values().filter(|((in_file, _), _)| *in_file == file);
        let (counts, percentages) = figures(name, dataset, quality);
        let report = ImportedReport {
            rows: notes.rows.get(file).copied().unwrap_or_default(),
            skipped: skipped.map(|((_, reason), &rows)| (reason.clone(), rows)).collect(),
            unknown_values: unknown
                .map(|(&(_, column), values)| (column.to_owned(), values.count))
                .collect(),
            counts,
            percentages,
            ..report
        };
        (name, report)
    };
    ImportedReports(reports.0.into_iter().map(with_findings).collect())
}

/// For each report on thousands blocks that cannot be read, the earlier one whose blocks are kept.
pub(crate) fn earlier_block_reports(
    current: Option<&ImportedReports>,
    notes: &Notes,
    dataset: &Dataset,
    quality: &Quality,
) -> Vec<(ReportName, ImportedReport)> {
    let names = notes.countries_without_blocks.iter().map(|&country| ReportName::blocks(country));
    let kept = names.filter_map(|name| {
        // Blocks in exchanges that are gone are not kept.
        let (counts, percentages) = figures(name, dataset, quality);
        Some((name, ImportedReport { counts, percentages, ..current?.0.get(&name)?.clone() }))
    });
    kept.collect()
}

/// Counts and percentages of a report's records.
fn figures(
    name: ReportName,
    dataset: &Dataset,
    quality: &Quality,
) -> (BTreeMap<String, u32>, BTreeMap<String, f64>) {
    let coverage = |country| quality.by_country.get(&country).cloned().unwrap_or_default();
    let exchanges = |country| {
        let (mut counts, mut percentages) = (BTreeMap::new(), BTreeMap::new());
        for (name, value) in coverage(country).figures() {
            if SHARES.contains(&name) {
                percentages.insert(name.to_owned(), value);
            } else {
                counts.insert(name.to_owned(), value as u32);
            }
        }
        if let Some(by_basis) = quality.carrier_types.by_country.get(&country) {
            percentages.insert("carrier_type".to_owned(), by_basis.percent_typed());
        }
        (counts, percentages)
    };
    let blocks = |country| {
        let Coverage { blocks, pooled_exchanges, .. } = coverage(country);
        only_counts([("blocks", blocks), ("pooled_exchanges", pooled_exchanges)])
    };
    match name {
        ReportName::Nanpa => exchanges(Country::Us),
        ReportName::Cnac => exchanges(Country::Ca),
        ReportName::NpaReport => {
            let in_service = dataset.area_codes().filter(|it| it.plan.is_in_service).count();
            only_counts([
                ("records", dataset.area_codes().len() as u32),
                ("in_service", in_service as u32),
            ])
        }
        ReportName::ThousandsBlocks => blocks(Country::Us),
        ReportName::CanadianBlocks => blocks(Country::Ca),
        ReportName::Carriers => {
            let is_typed = |carrier: &Carrier| carrier.type_basis == Some(TypeBasis::CarriersFile);
            only_counts([("typed_carriers", dataset.carriers().filter(is_typed).count() as u32)])
        }
    }
}

fn only_counts<const N: usize>(
    counts: [(&str, u32); N],
) -> (BTreeMap<String, u32>, BTreeMap<String, f64>) {
    (counts.map(|(name, count)| (name.to_owned(), count)).into(), BTreeMap::new())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use jiff::Timestamp;
    use numbering::records::{AreaCode, BlockHolder, Exchange, NumberingPlan, Status};

    use super::*;
    use crate::quality::tests::{area_code, carrier, exchange};

    fn reports(names: &[ReportName]) -> ImportedReports {
        let read_at = Timestamp::UNIX_EPOCH;
        let report = ImportedReport { read_at, ..ImportedReport::default() };
        ImportedReports(names.iter().map(|&name| (name, report.clone())).collect())
    }

    /// An exchange with two blocks.
    fn pooled(npa_nxx: &str) -> Exchange {
        let holder = BlockHolder {
            ocn: "0001".parse().unwrap(),
            company_name: None,
            carrier_type: None,
            rate_center: None,
            effective: None,
        };
        Exchange {
            blocks: BTreeMap::from([(3, holder.clone()), (4, holder)]),
            ..exchange(npa_nxx, Some("0001"), "SNFC", Status::Assigned)
        }
    }

    #[test]
    fn each_report_has_its_own_findings() {
        let unassigned = exchange("415-201", None, "", Status::Unassigned);
        let plan = Box::new(NumberingPlan { is_in_service: false, ..NumberingPlan::default() });
        let planned = AreaCode { plan, ..area_code("999", 0) };
        let area_codes = vec![area_code("415", 2), planned];
        let untyped = vec![carrier("0001", "A", 1)];
        let dataset = Dataset::new(untyped, area_codes, vec![pooled("415-200"), unassigned]);
        let mut notes = Notes::default();
        let [nanpa, cnac] = [ReportName::Nanpa, ReportName::Cnac].map(file);
        notes.count_rows(nanpa, 9);
        (0..3).for_each(|_| notes.skip(nanpa, "blank rows"));
        notes.warn_unknown_value(nanpa, "Use", "is unknown", "'ZZ'");
        notes.skip(cnac, "blank rows");
        (0..2).for_each(|_| notes.warn_unknown_value(cnac, "Status", "is unknown", "'YY'"));

        let names = [ReportName::Nanpa, ReportName::NpaReport, ReportName::ThousandsBlocks];
        let quality = Quality::new(&dataset);
        let described = with_findings(reports(&names), &notes, &dataset, &quality).0;
        assert_eq!(described.len(), 3);
        let found = &described[&ReportName::Nanpa];
        assert_eq!(found.rows, 9);
        assert_eq!(found.skipped, BTreeMap::from([("blank rows".to_owned(), 3)]));
        assert_eq!(found.unknown_values, BTreeMap::from([("Use".to_owned(), 1)]));
        assert_eq!(found.percentages["ocn"], 50.0);
        assert_eq!(found.percentages["carrier_type"], 0.0);
        for (report, name, count) in [
            (ReportName::Nanpa, "records", 2),
            (ReportName::NpaReport, "records", 2),
            (ReportName::NpaReport, "in_service", 1),
            (ReportName::ThousandsBlocks, "blocks", 2),
            (ReportName::ThousandsBlocks, "pooled_exchanges", 1),
        ] {
            assert_eq!(described[&report].counts.get(name), Some(&count), "{report:?} {name}");
        }
    }

    #[test]
    fn blocks_of_an_unread_report_are_counted_anew_with_the_earlier_report() {
        let earlier = |name| {
            let counts = [("blocks".to_owned(), 9), ("pooled_exchanges".to_owned(), 8)].into();
            let percentages = [("ocn".to_owned(), 50.0)].into();
            let report = ImportedReport { rows: 7, counts, percentages, ..Default::default() };
            (name, report)
        };
        let current = ImportedReports(
            [ReportName::ThousandsBlocks, ReportName::CanadianBlocks].map(earlier).into(),
        );
        let in_canada = Exchange { country: Country::Ca, ..pooled("416-200") };
        let exchanges = vec![pooled("415-200"), pooled("415-201"), in_canada];
        let dataset = Dataset::new(vec![carrier("0001", "A", 3)], Vec::new(), exchanges);
        let quality = Quality::new(&dataset);
        let kept = |countries: &[Country], current| {
            let countries_without_blocks = countries.to_vec();
            let notes = Notes { countries_without_blocks, ..Notes::default() };
            let kept = earlier_block_reports(current, &notes, &dataset, &quality).into_iter();
            kept.map(|(name, report)| {
                assert_eq!(report.percentages, BTreeMap::new(), "blocks have none");
                let count = |name: &str| report.counts[name];
                (name, report.rows, count("blocks"), count("pooled_exchanges"))
            })
            .collect::<Vec<_>>()
        };
        let (us, ca) = (Country::Us, Country::Ca);
        let us_blocks = (ReportName::ThousandsBlocks, 7, 4, 2);
        let canadian_blocks = (ReportName::CanadianBlocks, 7, 2, 1);
        assert_eq!(kept(&[us], Some(&current)), [us_blocks]);
        assert_eq!(kept(&[us, ca], Some(&current)), [us_blocks, canadian_blocks]);
        assert_eq!(kept(&[], Some(&current)), []);
        assert_eq!(kept(&[us], None), []);
        assert_eq!(kept(&[us], Some(&ImportedReports::default())), []);
    }
}
