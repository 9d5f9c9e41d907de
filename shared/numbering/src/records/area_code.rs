//! Area codes and their numbering plan data.

use std::collections::BTreeSet;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantNames};
use utoipa::ToSchema;

use super::{Country, Npa, StateCode};

/// An area code in service or assigned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AreaCode {
    pub npa: Npa,
    /// The state or province with most of its exchanges; `None` for non-geographic codes, and outside the US and
    /// Canada.
    pub state: Option<StateCode>,
    /// Every state or province named by its exchanges or the area code report.
    #[serde(default)]
    pub states: BTreeSet<StateCode>,
    /// `None` outside the US and Canada, since no report covers those exchanges.
    pub country: Option<Country>,
    pub total_exchanges: u32,
    #[serde(flatten)]
    pub plan: Box<NumberingPlan>,
}

/// An area code's row in NANPA's area code database. The default is for a code that appears only in exchange
/// reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NumberingPlan {
    pub service: AreaCodeService,
    /// ISO 3166-1 alpha-2 code; `None` for a code without a country, such as 800. US territories belong to the
    /// US.
    pub plan_country: Option<String>,
    pub assigned_on: Option<Date>,
    pub is_in_service: bool,
    /// The date on which the code entered or enters service.
    pub in_service_on: Option<Date>,
    /// The code that previously served its area.
    pub parent: Option<Npa>,
    /// All codes that serve the same area, including this one; empty if it has no overlay.
    pub overlay: BTreeSet<Npa>,
    /// `true` if this code or an overlay code spans several time zones.
    pub has_several_time_zones: bool,
    pub dialing: DialingPlan,
    pub relief: ReliefPlanning,
    pub notes: Option<String>,
}

/// The service that an area code is used for.
#[derive(Serialize, Deserialize, Display, EnumString, VariantNames, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", ascii_case_insensitive)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AreaCodeService {
    #[default]
    Geographic,
    TollFree,
    Premium,
    NonGeographic,
    InterexchangeCarrier,
    UsGovernment,
}

/// The digits to dial for each kind of call, such as `10D` or `1+10D`; `None` if the report does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct DialingPlan {
    /// Local calls within the area code.
    #[schema(required, example = "10D")]
    pub home_local: Option<String>,
    /// Toll calls within the area code.
    #[schema(required, example = "1+10D")]
    pub home_toll: Option<String>,
    /// Local calls to another area code.
    #[schema(required, example = "10D")]
    pub foreign_local: Option<String>,
    /// Toll calls to another area code.
    #[schema(required, example = "1+10D")]
    pub foreign_toll: Option<String>,
    #[schema(required, example = "1+10 digit permissible at service provider discretion")]
    pub notes: Option<String>,
}

/// Plans for when the area code runs out of exchanges.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ReliefPlanning {
    /// `true` if the code may run out before relief is in place.
    pub is_in_jeopardy: bool,
    /// `true` if relief is being planned.
    pub is_in_progress: bool,
    /// The state of the plan, such as `Active`, as in the report.
    #[schema(required, example = "Active")]
    pub status: Option<String>,
    /// The numbers of NANPA's planning letters, newest first.
    #[schema(example = json!(["461", "421"]))]
    pub planning_letters: Vec<String>,
}

impl Default for NumberingPlan {
    fn default() -> Self {
        Self {
            service: AreaCodeService::Geographic,
            plan_country: None,
            assigned_on: None,
            is_in_service: true,
            in_service_on: None,
            parent: None,
            overlay: BTreeSet::new(),
            has_several_time_zones: false,
            dialing: DialingPlan::default(),
            relief: ReliefPlanning::default(),
            notes: None,
        }
    }
}

/// An area code's service status.
#[derive(Serialize, ToSchema, Display, EnumString, VariantNames)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", ascii_case_insensitive)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AreaCodeStatus {
    InService,
    /// Assigned, and not in service yet.
    Planned,
}

impl AreaCodeStatus {
    pub(crate) fn new(is_in_service: bool) -> Self {
        if is_in_service { Self::InService } else { Self::Planned }
    }
}

impl NumberingPlan {
    pub fn status_on(&self, today: Date) -> AreaCodeStatus {
        AreaCodeStatus::new(self.is_in_service_on(today))
    }

    /// Returns `true` if the code is in service `today`. A planned code enters service on its date without an
    /// import.
    pub fn is_in_service_on(&self, today: Date) -> bool {
        self.is_in_service || self.in_service_on.is_some_and(|date| date <= today)
    }
}

impl AreaCode {
    /// The state of all its numbers; `None` without a state, or with several.
    pub fn only_state(&self) -> Option<StateCode> {
        self.states.first().copied().filter(|_| self.states.len() == 1)
    }

    /// ISO 3166-1 alpha-2 code; `None` if the code belongs to no country. US territories belong to the US.
    pub fn iso_country(&self) -> Option<String> {
        self.plan.plan_country.clone().or_else(|| self.country.map(|country| country.to_string()))
    }

    /// Returns `true` if a report lists its exchanges.
    pub fn is_covered(&self) -> bool {
        let is_geographic = self.plan.service == AreaCodeService::Geographic;
        self.country.is_some() && is_geographic || self.total_exchanges > 0
    }

    /// The country whose report lists its exchanges; `None` if no report does, or the code is not in service.
    pub fn reported_country(&self) -> Option<Country> {
        self.country.filter(|_| self.plan.is_in_service)
    }
}
