//! Writes VICIdial's table of North American prefixes for `ADMIN_area_code_populate.pl`, which reads it from
//! `NANPA_prefix-latest.txt`: `NPA,NXX,TZ,DST,LATITUDE,LONGITUDE,CITY,STATE,POSTAL_CODE,COUNTRY,LTYPE`, without a
//! header row or quotes.

use std::{
    collections::{BTreeSet, HashMap},
    io::{self, BufWriter, Write},
};

use ::format::extras::zones;
use formatting::{DefaultCountry, PhoneNumber};
use jiff::{ToSpan, civil::Date, tz::TimeZone};
use numbering::{
    dataset::Dataset,
    records::{Carrier, Exchange, LineType, Status},
};

use super::Source;
use crate::terminal::progress::Unit;

/// Writes a line for each assigned exchange if all its possible time zones have the same time all year. For the others,
/// VICIdial uses the area code's time.
pub fn write_prefixes(source: &Source, output: impl Write) -> io::Result<()> {
    let Source { data, effective_on, progress } = source;
    let mut output = BufWriter::new(output);
    let mut clocks = HashMap::new();
    let dataset = &data.dataset;
    progress.start("Exporting exchanges", Unit::Count("rows"), None);
    for exchange in dataset.exchanges().filter(|it| it.status == Status::Assigned) {
        let found: BTreeSet<Clock> = local_zones(dataset, &exchange)
            .into_iter()
            .filter_map(|zone| {
                *clocks.entry(zone).or_insert_with(|| Clock::in_zone(zone, *effective_on))
            })
            .collect();
        let Some(Clock { offset_hundredths, has_dst }) = found.first().filter(|_| found.len() == 1)
        else {
            continue;
        };
        let Exchange { npa, nxx, ocn, rate_center, state, country, .. } = &exchange;
        let (hours, fraction) = (offset_hundredths / 100, offset_hundredths.abs() % 100);
        let dst = if *has_dst { 'Y' } else { 'N' };
        let city = rate_center.as_deref().unwrap_or_default().replace([',', '\'', '\\'], " ");
        let state = state.map(|state| state.to_string()).unwrap_or_default();
        let line_type = line_type(ocn.and_then(|ocn| dataset.carrier(ocn)));
        writeln!(
            output,
            "{npa},{nxx},{hours}.{fraction:02},{dst},,,{city},{state},,{country},{line_type}"
        )?;
        progress.add(1);
    }
    output.flush()
}

fn local_zones(dataset: &Dataset, Exchange { npa, nxx, .. }: &Exchange) -> Vec<&'static str> {
    let number = PhoneNumber::parse(&format!("+1{npa}{nxx}0000"), DefaultCountry::default());
    number.map(|number| zones(&number, Some(dataset))).unwrap_or_default()
}

/// A zone's standard time in the year after a given day, as the offset from UTC in hundredths of an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Clock {
    offset_hundredths: i32,
    has_dst: bool,
}

impl Clock {
    fn in_zone(zone: &str, day: Date) -> Option<Self> {
        let start = day.to_zoned(TimeZone::get(zone).ok()?).ok()?;
        let half_a_year_on = start.checked_add(6.months()).ok()?;
        let [one, other] = [start, half_a_year_on].map(|time| time.offset().seconds());
        Some(Self { offset_hundredths: one.min(other) / 36, has_dst: one != other })
    }
}

/// The line type in VICIdial's terms: cellular, standard, VoIP or paging; empty if unknown.
fn line_type(holder: Option<Carrier>) -> &'static str {
    match holder.as_ref().and_then(Carrier::line_type) {
        Some((LineType::Wireless, _)) => "C",
        Some((LineType::Landline, _)) => "S",
        Some((LineType::Voip, _)) => "V",
        Some((LineType::Pager, _)) => "P",
        _ => "",
    }
}
