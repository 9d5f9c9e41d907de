//! Tests the tables against the published reports in the `TNR_FULL_SCALE_DATA` folder. Skipped if it is unset.

use std::{collections::BTreeMap, path::PathBuf};

use numbering::{
    dataset::Dataset,
    records::{Carrier, CarrierType, Country, LineType, Ocn},
};

use crate::{
    CompanyCount, ReportName, Source, Sources, TypeCoverage, quality::percent, read_dataset,
};

/// Types that are wrong in `carriers.csv`.
const CORRECTIONS: [(&str, CarrierType); 3] = [
    // Spok is a paging company.
    ("6630", CarrierType::Wireless),
    // Freedom Mobile has no landlines.
    ("787G", CarrierType::Wireless),
    // Optivon sells cloud telephony.
    ("087D", CarrierType::Clec),
];

/// The OCNs of paging companies: Spok, American Messaging, ABC Paging, Indiana Paging Network, Dial-A-Beeper, Borinquen
/// Beepers, Mr. Beeper and Beeper Express.
const PAGING: [&str; 8] = ["6630", "9748", "6548", "6795", "6871", "6933", "4850", "6991"];

#[tokio::test]
async fn published_companies_have_the_right_types() {
    let Some(folder) = std::env::var_os("TNR_FULL_SCALE_DATA").map(PathBuf::from) else {
        eprintln!("skipped: TNR_FULL_SCALE_DATA is not set");
        return;
    };
    let file = |name: &str| Source::File(folder.join(name));
    let sources = Sources::from_iter([
        (ReportName::Nanpa, file("CoCodeAssignment_Utilized_AllStates_Public.zip")),
        (ReportName::Cnac, file("COCodeStatus_ALL.zip")),
        (ReportName::NpaReport, file("npa_report.csv")),
    ]);
    let dataset = read_dataset(&sources).await.unwrap();

    let coverage = TypeCoverage::new(&dataset);
    for (country, min_percent) in [(Country::Us, 98.5), (Country::Ca, 96.0)] {
        let typed = coverage.by_country[&country].percent_typed();
        println!("{country}: {typed}% of exchanges have a type");
        assert!(typed >= min_percent, "{country}: {typed}");
    }
    let CompanyCount { company_name, exchanges } = &coverage.largest_without_type[0];
    assert!(*exchanges < 20, "{company_name} has {exchanges} exchanges and no type");

    let list = csv::Reader::from_path(folder.join("carriers.csv")).unwrap();
    let rows = list.into_records().map(Result::unwrap);
    let mut listed: BTreeMap<Ocn, CarrierType> =
        rows.filter_map(|row| Some((row[0].parse().ok()?, row[3].parse().ok()?))).collect();
    listed.extend(CORRECTIONS.map(|(ocn, corrected)| (ocn.parse().unwrap(), corrected)));
    assert_types_agree(&dataset, &listed);

    for ocn in PAGING {
        let carrier = dataset.carrier(ocn.parse().unwrap()).unwrap();
        let line_type = carrier.line_type().map(|(line_type, _)| line_type);
        assert_eq!(line_type, Some(LineType::Pager), "{carrier:?}");
    }
}

/// Compares the types with an independent list in both directions, weighted by exchanges.
fn assert_types_agree(dataset: &Dataset, listed: &BTreeMap<Ocn, CarrierType>) {
    let carriers: Vec<_> =
        dataset.carriers().filter_map(|it| Some((*listed.get(&it.ocn)?, it))).collect();
    let exchanges = |is_counted: &dyn Fn(CarrierType, &Carrier) -> bool| -> u32 {
        let counted = carriers.iter().filter(|(listed, carrier)| is_counted(*listed, carrier));
        counted.map(|(_, carrier)| carrier.exchanges.total).sum()
    };
    for (kind, min_right, min_found) in [
        (CarrierType::Wireless, 99.7, 99.7),
        (CarrierType::Ilec, 99.7, 99.0),
        (CarrierType::Clec, 99.7, 99.0),
    ] {
        let ours = exchanges(&|_, carrier| carrier.carrier_type == Some(kind));
        let theirs = exchanges(&|listed, _| listed == kind);
        let both = exchanges(&|listed, it| listed == kind && it.carrier_type == Some(kind));
        let (right, found) = (percent(both, ours), percent(both, theirs));
        println!("{kind}: {right:.2}% of ours are right, {found:.2}% of theirs are found");
        assert!(right >= min_right && found >= min_found, "{kind}: {right} {found}");
    }
}
