//! Optional result fields. Each is found only on request.

mod assignment;
mod calling_hours;
mod line;
mod network;
mod place;
mod reason;
mod time_zones;

use std::{collections::BTreeSet, str::FromStr};

use formatting::{DefaultCountry, Languages, PhoneNumber};
use jiff::Timestamp;
use numbering::{dataset::Dataset, time::date_of};
use shared::{errors::ApiError, params::invalid_param};
use strum::{EnumString, VariantNames};
use utoipa::ToSchema;

pub use assignment::Assignment;
pub use calling_hours::{CallingHours, hhmm};
pub use line::LineInfo;
pub use network::NetworkInfo;
pub use place::PlaceInfo;
pub use reason::ReasonInfo;
pub use time_zones::{TimeZoneInfo, zones};

use crate::{
    block::{CarrierInfo, NanpParts},
    fields::Fields,
};

/// A field that results include only on request.
#[derive(EnumString, VariantNames, ToSchema)]
#[strum(serialize_all = "camelCase", ascii_case_insensitive)]
#[schema(rename_all = "camelCase")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extra {
    /// The reason why the text is not a single valid number.
    Reason,
    /// The number's likely line type and its carrier's everyday name.
    Line,
    /// What the numbering plan says about the number, beside Google's rules.
    Assignment,
    /// The number's time zones with their local time, and calling hours.
    Timezone,
    /// The city or region where the number may be.
    Place,
    /// The mobile network that the number's range was first assigned to.
    Network,
    /// All of these.
    All,
}

const EXTRAS: [Extra; 6] =
    [Extra::Reason, Extra::Line, Extra::Assignment, Extra::Timezone, Extra::Place, Extra::Network];

impl Extra {
    /// The result fields that it adds.
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Reason => &["reason"],
            Self::Line => &["line"],
            Self::Assignment => &["assignment"],
            Self::Timezone => &["timeZones", "callingHours"],
            Self::Place => &["place"],
            Self::Network => &["network"],
            Self::All => &[],
        }
    }
}

/// The optional fields to find.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Include(BTreeSet<Extra>);

impl FromStr for Include {
    type Err = ApiError;

    /// Parses a comma-separated list.
    fn from_str(names: &str) -> Result<Self, ApiError> {
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        let mut extras = BTreeSet::new();
        for name in names {
            match name.parse() {
                Ok(Extra::All) => return Ok(Self::all()),
                Ok(extra) => _ = extras.insert(extra),
                Err(_) => {
                    let rule = format!("must be one or more of {}", Extra::VARIANTS.join(", "));
                    return Err(invalid_param("include", name, rule));
                }
            }
        }
        Ok(Self(extras))
    }
}

impl Include {
    pub fn all() -> Self {
        Self(EXTRAS.into())
    }

    /// The optional fields among these.
    pub fn from_fields(fields: &Fields) -> Self {
        let is_selected = |extra: &Extra| extra.fields().iter().any(|field| fields.includes(field));
        Self(EXTRAS.into_iter().filter(is_selected).collect())
    }

    pub fn and(mut self, extra: Extra) -> Self {
        self.0.insert(extra);
        self
    }

    pub fn without(mut self, extra: Extra) -> Self {
        self.0.remove(&extra);
        self
    }

    pub fn contains(&self, extra: Extra) -> bool {
        self.0.contains(&extra)
    }

    /// Returns `true` if a North American number's optional fields need the numbering data.
    pub(super) fn needs_data(&self) -> bool {
        [Extra::Line, Extra::Assignment, Extra::Timezone, Extra::Place]
            .iter()
            .any(|&extra| self.contains(extra))
    }
}

/// What a result is about.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub text: &'a str,
    /// The country for numbers without a country code.
    pub country: DefaultCountry,
    /// The text as a number; `None` if it cannot be parsed.
    pub number: Option<&'a PhoneNumber>,
}

/// The optional fields of a result. A field is `None` unless requested.
#[derive(Debug, Default)]
pub struct Extras {
    pub reason: Option<Option<ReasonInfo>>,
    pub line: Option<Option<LineInfo>>,
    pub assignment: Option<Option<Assignment>>,
    pub time_zones: Option<Option<Vec<TimeZoneInfo>>>,
    pub calling_hours: Option<Option<CallingHours>>,
    pub place: Option<Option<PlaceInfo>>,
    pub network: Option<Option<NetworkInfo>>,
}

impl Extras {
    /// Finds the requested fields.
    pub fn find(
        include: &Include,
        subject: Subject<'_>,
        languages: &Languages,
        dataset: Option<&Dataset>,
        now: Timestamp,
    ) -> Self {
        let Subject { text, country, number } = subject;
        let wants = |extra| include.contains(extra);
        let today = date_of(now);
        let holder = || {
            let parts = NanpParts::from_number(number?)?;
            let exchange = dataset?.exchange(parts.npa_nxx)?;
            dataset?.carrier(CarrierInfo::new(&exchange, parts.block(), today)?.ocn?)
        };
        let time_zones = wants(Extra::Timezone).then(|| time_zones::find(number?, dataset, now));
        let calling_hours = time_zones
            .as_ref()
            .map(|zones| CallingHours::find(number?, dataset, zones.as_deref()?, now));
        Self {
            reason: wants(Extra::Reason).then(|| ReasonInfo::find(text, country, number)),
            line: wants(Extra::Line).then(|| Some(LineInfo::new(number?, holder))),
            assignment: wants(Extra::Assignment).then(|| Assignment::find(number?, dataset, today)),
            time_zones,
            calling_hours,
            place: wants(Extra::Place).then(|| PlaceInfo::find(number?, dataset, languages, today)),
            network: wants(Extra::Network).then(|| NetworkInfo::find(number?, languages)),
        }
    }
}

#[cfg(test)]
mod tests {
    use numbering::records::{AreaCode, Carrier, CarrierType, Country, OwnedExchanges, TypeBasis};
    use serde_json::json;

    use super::*;
    use crate::block::tests::exchange;

    #[test]
    fn extra_fields_are_parsed_in_any_order_ignoring_case() {
        let include: Include = " Line ,REASON,".parse().unwrap();
        assert_eq!(include, Include([Extra::Reason, Extra::Line].into()));
        assert!("all".parse::<Include>().unwrap().contains(Extra::Line));
        assert_eq!(" ,".parse::<Include>().unwrap(), Include::default());
    }

    #[test]
    fn each_extra_field_needs_the_data_on_its_own_or_not_at_all() {
        let need_data: Vec<bool> =
            EXTRAS.into_iter().map(|extra| Include::default().and(extra).needs_data()).collect();
        // Reason and network do not.
        assert_eq!(need_data, [false, true, true, true, true, false]);
        assert!(!Include::default().needs_data() && Include::all().needs_data());
    }

    #[test]
    fn fields_are_judged_on_the_day_of_the_time_asked_for() {
        let carrier = Carrier {
            ocn: "464D".parse().unwrap(),
            company_name: Some("SAMPLE WIRELESS".to_owned()),
            common_name: None,
            carrier_type: Some(CarrierType::Wireless),
            type_basis: Some(TypeBasis::CompanyName),
            family_line_type: None,
            state: None,
            country: Country::Us,
            exchanges: OwnedExchanges::default(),
        };
        let area_code = AreaCode {
            npa: "907".parse().unwrap(),
            state: None,
            states: ["AK".parse().unwrap()].into(),
            country: Some(Country::Us),
            total_exchanges: 1,
            plan: Box::default(),
        };
        // Block 4, in Juneau, is effective from July 1.
        let dataset = Dataset::new(vec![carrier], vec![area_code], vec![exchange()]);
        let country = DefaultCountry::default();
        let number = PhoneNumber::parse("907 200 4000", country);
        let subject = Subject { text: "", country, number: number.as_ref() };
        for (now, line_type, verdict, place, day) in [
            ("2026-06-30T23:59:59Z", None, "NOT_YET_EFFECTIVE", "Valdez, AK", "2026-06-30"),
            ("2026-07-01T00:00:00Z", Some("WIRELESS"), "ASSIGNED", "Juneau, AK", "2026-06-30"),
            ("2026-07-01T12:00:00Z", Some("WIRELESS"), "ASSIGNED", "Juneau, AK", "2026-07-01"),
        ] {
            let (languages, now) = (Languages::default(), now.parse().unwrap());
            let extras = Extras::find(&Include::all(), subject, &languages, Some(&dataset), now);
            let line = extras.line.unwrap().unwrap();
            assert_eq!(line.line_type.map(|it| it.to_string()).as_deref(), line_type, "{now}");
            assert_eq!(extras.assignment.unwrap().unwrap().verdict.to_string(), verdict, "{now}");
            assert_eq!(extras.place.unwrap().unwrap().name, place, "{now}");
            let zones = json!(extras.time_zones.unwrap().unwrap());
            let local_time = zones[0]["localTime"].as_str().unwrap();
            assert!(local_time.starts_with(day), "{now}: {local_time}");
            assert!(extras.calling_hours.unwrap().is_some());
        }
    }
}
