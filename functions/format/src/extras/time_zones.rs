//! The time zones of a number, and the local time in them.

use formatting::{PhoneNumber, time_zones_for_area_codes, time_zones_for_calling_code};
use numbering::dataset::Dataset;
use serde::Serialize;
use utoipa::ToSchema;

use super::Facts;
use crate::block::NanpParts;

/// A time zone where the number may be.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimeZoneInfo {
    /// IANA name.
    #[schema(example = "America/New_York")]
    pub(crate) zone: &'static str,
    /// Difference from UTC now, in hours and minutes.
    #[schema(pattern = "^[+-][0-9]{2}:[0-9]{2}$", example = "-05:00")]
    utc_offset: String,
    /// Local time now (RFC 3339).
    #[schema(format = DateTime, example = "2026-11-24T14:12:31-05:00")]
    local_time: String,
}

/// The number's time zones now; `None` if they are unknown, or the number is not tied to a place.
pub fn find(facts: &Facts<'_>) -> Option<Vec<TimeZoneInfo>> {
    let zones = zones(facts.number?, facts.dataset).into_iter().filter_map(|zone| {
        let now = facts.now.in_tz(zone).ok()?;
        Some(TimeZoneInfo {
            zone,
            utc_offset: now.strftime("%:z").to_string(),
            local_time: now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        })
    });
    Some(zones.collect::<Vec<_>>()).filter(|zones| !zones.is_empty())
}

/// The IANA zones of a number, from libphonenumber's map unless the area code's zones contradict it or are several.
pub fn zones(number: &PhoneNumber, dataset: Option<&Dataset>) -> Vec<&'static str> {
    if number.is_non_geographic {
        return Vec::new();
    }
    let known = number.time_zones();
    let Some((parts, dataset)) = NanpParts::from_number(number).zip(dataset) else {
        let is_in_map = known != time_zones_for_calling_code(1);
        return if is_in_map { known.to_vec() } else { Vec::new() };
    };
    let npa = parts.npa_nxx.npa;
    let area = dataset.time_zones(npa, time_zones_for_area_codes);
    let is_split = dataset.area_code(npa).is_some_and(|it| it.plan.has_several_time_zones);
    let is_precise = !known.is_empty() && known.iter().all(|zone| area.contains(zone));
    if is_precise && !is_split { known.to_vec() } else { area.into_iter().collect() }
}
