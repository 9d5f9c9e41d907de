//! The progress that an import tells of.

use std::cell::RefCell;

use ingest::{Mirror, NamedSources, Options, Progress, ingest};

use crate::support::{
    publishers::{mirror_of, small_published_reports},
    service::Service,
};

#[tokio::test]
async fn an_import_tells_of_its_phases_in_order_with_their_sizes() {
    let reports = small_published_reports();
    let sizes = reports.each_ref().map(|report| report.len() as u64);
    let mirror: Mirror = mirror_of(reports).await.parse().unwrap();
    let sources = NamedSources::default().or_published(Some(&mirror));
    let service = Service::empty().await;
    let steps = RefCell::new(Vec::new());
    let store = service.database.store();
    let tell = |step| steps.borrow_mut().push(step);
    let report = ingest(&store, &sources, Options::default(), tell).await.unwrap();

    let steps = steps.into_inner();
    let mut phases: Vec<&str> = steps.iter().map(phase).collect();
    phases.dedup();
    let reports = ["fetching", "reading"].repeat(3);
    let rest = ["comparing", "planned", "written", "publishing"];
    assert_eq!(phases, [&reports[..], &rest].concat());

    let fetched: Vec<(u64, Option<u64>)> = last_of_each(&steps, |step| match *step {
        Progress::Fetching { file, bytes, total } => Some((file, (bytes, total))),
        _ => None,
    });
    assert_eq!(fetched, sizes.map(|size| (size, Some(size))));
    let read: Vec<u64> = last_of_each(&steps, |step| match *step {
        Progress::Reading { file, rows } => Some((file, rows)),
        _ => None,
    });
    assert!(read.iter().sum::<u64>() > u64::from(report.records), "{read:?}");
    let planned = steps.iter().find_map(|step| match step {
        Progress::Planned(items) => Some(*items),
        _ => None,
    });
    let written = steps.iter().map(|step| match step {
        Progress::Written(items) => *items,
        _ => 0,
    });
    assert_eq!((planned, written.sum()), (Some(report.items.written), report.items.written));
}

fn phase(step: &Progress) -> &'static str {
    match step {
        Progress::Fetching { .. } => "fetching",
        Progress::Reading { .. } => "reading",
        Progress::Comparing => "comparing",
        Progress::Planned(_) => "planned",
        Progress::Written(_) => "written",
        Progress::Publishing => "publishing",
        Progress::Verifying => "verifying",
    }
}

/// The last value of each file, in the order of the files.
fn last_of_each<T: Copy>(
    steps: &[Progress],
    value: impl Fn(&Progress) -> Option<(&'static str, T)>,
) -> Vec<T> {
    let mut last: Vec<(&str, T)> = Vec::new();
    for (file, value) in steps.iter().filter_map(value) {
        match last.last_mut() {
            Some((known, last)) if *known == file => *last = value,
            _ => last.push((file, value)),
        }
    }
    last.into_iter().map(|(_, value)| value).collect()
}
