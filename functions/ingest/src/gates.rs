//! What an import must not do to the data, however well the files read.

use jiff::civil::Date;
use shared::{
    dataset::Dataset,
    records::{Country, Statistics},
    store::{FileDates, Snapshot},
};

use crate::Options;

/// Why the data stays as it is.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "{what} would shrink from {before} to {after}, by more than {most_percent} %; \
         is a file cut off or left out? Raise --max-shrink if it is right"
    )]
    Shrunk { what: String, before: u32, after: u32, most_percent: f64 },
    #[error(
        "{file} is of {found}, older than that of {current} in force; \
         give --allow-older if it is right"
    )]
    Older { file: &'static str, found: Date, current: Date },
}

/// What is counted of a version.
pub(crate) struct Counted<'a> {
    pub statistics: &'a Statistics,
    pub dataset: &'a Dataset,
}

impl Counted<'_> {
    /// Each count an import must not cut down.
    fn counts(&self) -> Vec<(String, u32)> {
        let records = Country::ALL.map(|country| {
            let count = self.statistics.by_country.get(&country).copied().unwrap_or_default();
            (format!("the records of {country}"), count)
        });
        let carriers = self.dataset.carriers();
        let typed = carriers.iter().filter(|carrier| carrier.carrier_type.is_some()).count();
        let of_carriers = [
            ("the carriers".to_owned(), carriers.len() as u32),
            ("the carriers of known type".to_owned(), typed as u32),
            ("the area codes".to_owned(), self.dataset.area_codes().len() as u32),
        ];
        records.into_iter().chain(of_carriers).collect()
    }
}

/// Checks what `next`, of files with these dates, would do to the data in force.
///
/// # Errors
/// The first rule that it breaks.
pub(crate) fn check(
    current: &Snapshot,
    current_dataset: &Dataset,
    next: &Counted<'_>,
    dates: FileDates,
    options: &Options,
) -> Result<(), Refusal> {
    if !options.allow_older {
        refuse_older(current.file_dates, dates)?;
    }
    let current = Counted { statistics: &current.statistics, dataset: current_dataset };
    let counts = current.counts().into_iter().zip(next.counts());
    let shrunk = counts.map(|((what, before), (_, after))| (what, before, after)).find(
        |&(_, before, after)| {
            let lost = f64::from(before.saturating_sub(after));
            100.0 * lost > options.max_shrink * f64::from(before)
        },
    );
    match shrunk {
        Some((what, before, after)) => {
            Err(Refusal::Shrunk { what, before, after, most_percent: options.max_shrink })
        }
        None => Ok(()),
    }
}

fn refuse_older(current: FileDates, next: FileDates) -> Result<(), Refusal> {
    let files = [
        ("the NANPA report", next.nanpa, current.nanpa),
        ("the CNAC report", next.cnac, current.cnac),
        ("the area code database", next.npa_report, current.npa_report),
    ];
    let dated = files.into_iter().filter_map(|(file, next, current)| Some((file, next?, current?)));
    match dated.into_iter().find(|(_, next, current)| next < current) {
        Some((file, found, current)) => Err(Refusal::Older { file, found, current }),
        None => Ok(()),
    }
}
