//! Import progress.

use std::{cell::RefCell, collections::BTreeMap};

use ingest::{Mirror, Options, Progress, Sources, ingest};

use crate::support::{
    publishers::{mirror_of, small_published_reports},
    service::Service,
};

#[tokio::test]
async fn imports_report_their_phases_in_order_with_sizes() {
    let reports = small_published_reports();
    let mut sizes = reports.each_ref().map(|report| Some(report.len() as u64));
    let mirror: Mirror = mirror_of(reports).await.parse().unwrap();
    let service = Service::empty().await;
    let store = service.database.store();
    let steps = RefCell::new(Vec::new());
    let report_step = |step| steps.borrow_mut().push(step);
    let sources = Sources::default().or_published(Some(&mirror), &[]);
    let report = ingest(&store, &sources, Options::default(), report_step).await.unwrap();

    let (mut phases, mut fetched, mut read) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let mut items_left = 0;
    for step in steps.into_inner() {
        match step {
            Progress::Fetching { file, bytes, total } => {
                fetched.insert(file, total.filter(|&total| total == bytes));
            }
            Progress::Reading { file, rows } => _ = read.insert(file, rows),
            Progress::Planned { items, .. } => items_left = items,
            Progress::Written(items) => items_left -= items,
            _ => (),
        }
        let phase = format!("{step:?}");
        phases.push(phase.split([' ', '(']).next().unwrap().to_owned());
    }
    phases.dedup();
    let rest = ["Comparing", "Planned", "Written", "Publishing"];
    assert_eq!(phases, [&["Fetching", "Reading"].repeat(3)[..], &rest].concat());
    let mut fetched: Vec<_> = fetched.into_values().collect();
    fetched.sort();
    sizes.sort();
    assert_eq!(fetched, sizes);
    assert!(read.into_values().sum::<u64>() > u64::from(report.records));
    assert_eq!(items_left, 0);
}
