//! Lists area codes, and shows one with its numbering plan data.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use axum::{extract::State, response::Response};
use formatting::time_zones_for_area_codes;
use jiff::civil::Date;
use numbering::{
    dataset::{Dataset, Holder, Search},
    records::{
        AreaCode, AreaCodeService, AreaCodeStatus, DialingPlan, Exchange, Npa, NumberingPlan,
        RecordKey, ReliefPlanning, StateCode, Status,
    },
    time::today,
};
use serde::Serialize;
use shared::{
    csv_pages::Rows,
    errors::{ApiError, ListError},
    json::json_response,
    pagination::{ListRequest, Page, PageResponse, Pagination, VersionParam},
    params::{Params, PathParams, invalid_param, parse_param},
    past_time::AsOf,
    state::App,
};
use utoipa::{IntoParams, ToSchema};

/// The number of rate centers and holders shown for an area code. `/v1/holders` lists all holders.
const MAX_LISTED: usize = 10;

/// An area code's place in the numbering plan.
#[derive(Debug, Serialize, ToSchema)]
pub struct AreaCodeSummary {
    pub npa: Npa,
    /// State or province with the most exchanges; `null` if the code is non-geographic or in another country.
    #[schema(required)]
    pub state: Option<StateCode>,
    /// All states and provinces that it serves.
    pub states: BTreeSet<StateCode>,
    /// ISO 3166-1 alpha-2 code; `null` if the code belongs to no country, such as 800. US territories belong to the US.
    #[schema(required, pattern = "^[A-Z]{2}$", example = "US")]
    pub country: Option<String>,
    pub service: AreaCodeService,
    pub status: AreaCodeStatus,
    /// The day the code comes or came into service; `null` if it is unknown.
    #[schema(required, value_type = Option<String>, format = Date, example = "1947-01-01")]
    pub in_service_on: Option<Date>,
    /// The code that served its area before; `null` if it is an original code, or unknown.
    #[schema(required)]
    pub parent: Option<Npa>,
    /// All codes that serve the same area, including this one; empty if it has no overlay.
    pub overlay: BTreeSet<Npa>,
    /// `null` if no report lists the code's exchanges.
    #[schema(required)]
    pub total_exchanges: Option<u32>,
}

/// An area code with its dialing rules, relief planning, places and holders.
#[derive(Debug, Serialize, ToSchema)]
pub struct AreaCodeDetail {
    #[serde(flatten)]
    pub summary: AreaCodeSummary,
    #[schema(required, value_type = Option<String>, format = Date, example = "1947-01-01")]
    pub assigned_on: Option<Date>,
    /// IANA time zones; for a new code, its overlay's or state's. Empty for non-geographic codes.
    #[schema(example = json!(["America/Los_Angeles"]))]
    pub time_zones: BTreeSet<&'static str>,
    /// `true` if the report says that the code's area spans several time zones.
    pub has_several_time_zones: bool,
    pub dialing: DialingPlan,
    pub relief: ReliefPlanning,
    /// Remarks in the report.
    #[schema(required, example = "Toll-free")]
    pub notes: Option<String>,
    /// Exchange count by status; `null` if no report lists the code's exchanges.
    #[schema(required)]
    pub exchanges_by_status: Option<BTreeMap<Status, u32>>,
    /// `null` if no report lists the code's exchanges.
    #[schema(required)]
    pub total_rate_centers: Option<usize>,
    /// The ten rate centers with the most assigned exchanges.
    pub rate_centers: Vec<RateCenterCount>,
    /// `null` if no report lists the code's exchanges.
    #[schema(required)]
    pub total_holders: Option<usize>,
    /// The ten holders with the most exchanges.
    pub holders: Vec<Holder>,
}

/// A rate center's assigned exchanges in an area code.
#[derive(Debug, Serialize, ToSchema)]
pub struct RateCenterCount {
    #[schema(example = "SAN RAFAEL")]
    pub rate_center: String,
    pub exchanges: u32,
}

/// A page of area codes.
#[derive(Debug, Serialize, ToSchema)]
pub struct AreaCodeList {
    pub area_codes: Vec<AreaCodeSummary>,
    pub pagination: Pagination,
}

/// An area code as a CSV row. Each list is in a single cell.
#[derive(Serialize)]
struct CsvRow<'a> {
    #[serde(flatten)]
    summary: &'a AreaCodeSummary,
    states: String,
    overlay: String,
}

impl Rows for AreaCodeList {
    const COLUMNS: &'static str =
        "npa state states country service status in_service_on parent overlay total_exchanges";

    fn rows(&self) -> impl Iterator<Item = impl Serialize> {
        self.area_codes.iter().map(|summary| CsvRow {
            summary,
            states: join(&summary.states),
            overlay: join(&summary.overlay),
        })
    }
}

fn join<T: ToString>(codes: &BTreeSet<T>) -> String {
    codes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

impl AreaCodeSummary {
    fn new(area_code: AreaCode, today: Date) -> Self {
        let status = area_code.plan.status_on(today);
        let country = area_code.iso_country();
        let total_exchanges = area_code.is_covered().then_some(area_code.total_exchanges);
        let AreaCode { npa, state, states, plan, .. } = area_code;
        let NumberingPlan { service, in_service_on, parent, overlay, .. } = *plan;
        Self {
            npa,
            state,
            states,
            country,
            service,
            status,
            in_service_on,
            parent,
            overlay,
            total_exchanges,
        }
    }
}

/// The list's filters. An area code must match all of them.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// State or province that the code serves.
    state: Option<StateCode>,
    /// ISO 3166-1 alpha-2 code of a country in the North American Numbering Plan.
    #[param(value_type = Option<String>, pattern = "^[A-Z]{2}$", example = "US")]
    country: Option<String>,
    /// Service that the code is used for.
    service: Option<AreaCodeService>,
    /// The code's service status: in service or planned.
    status: Option<AreaCodeStatus>,
    /// An area code that the code overlays.
    overlay_of: Option<Npa>,
    /// A day when the code is in service.
    #[param(value_type = Option<String>, format = Date, example = "2026-01-01")]
    in_service_on: Option<Date>,
}

impl Filter {
    fn parse(params: &Params) -> Result<Self, ApiError> {
        let country = params.text("country")?.map(|text| {
            let is_code = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
            let rule = "must be a two-letter ISO 3166-1 country code";
            is_code
                .then(|| text.to_ascii_uppercase())
                .ok_or_else(|| invalid_param("country", &text, rule))
        });
        let day = params.text("in_service_on")?.map(|text| {
            let rule = "must be a date such as 2026-01-01";
            text.parse().map_err(|_| invalid_param("in_service_on", &text, rule))
        });
        Ok(Self {
            state: params.parse("state")?,
            country: country.transpose()?,
            service: params.parse_variant("service")?,
            status: params.parse_variant("status")?,
            overlay_of: params.parse("overlay_of")?,
            in_service_on: day.transpose()?,
        })
    }

    fn matches(&self, area_code: &AreaCode, today: Date) -> bool {
        let plan = &area_code.plan;
        let was_in_service =
            |day| plan.in_service_on.map_or(plan.is_in_service, |date| date <= day);
        self.state.is_none_or(|state| area_code.states.contains(&state))
            && self.country.as_ref().is_none_or(|it| area_code.iso_country().as_ref() == Some(it))
            && self.service.is_none_or(|service| plan.service == service)
            && self.status.is_none_or(|status| plan.status_on(today) == status)
            && self.overlay_of.is_none_or(|npa| npa != area_code.npa && plan.overlay.contains(&npa))
            && self.in_service_on.is_none_or(was_in_service)
    }
}

/// List area codes
///
/// Every assigned area code in the North American Numbering Plan that matches every filter, in order, including
/// non-geographic, Caribbean and planned ones.
#[utoipa::path(
    get, path = "/v1/area-codes", operation_id = "listAreaCodes", tag = "Lists and pages",
    params(Filter, ListRequest),
    responses((status = 200, description = "A page of area codes", body = AreaCodeList), ListError)
)]
pub async fn list_area_codes(
    State(app): State<App>,
    request: ListRequest,
) -> Result<PageResponse<AreaCodeList>, ApiError> {
    let filter = Filter::parse(&request.params)?;
    let today = today();
    let select = |dataset: &Dataset, page: Page| {
        let matching = dataset.area_codes().filter(|area_code| filter.matches(area_code, today));
        let (page, pagination) = page.slice(matching.collect::<Vec<_>>().into_iter());
        let area_codes = page.into_iter().map(|it| AreaCodeSummary::new(it, today)).collect();
        (AreaCodeList { area_codes, pagination }, pagination)
    };
    request.list(&app, select).await
}

/// Look up an area code's place in the numbering plan
#[utoipa::path(
    get, path = "/v1/area-codes/{npa}", operation_id = "getAreaCodePlan", tag = "Look up",
    params(("npa" = Npa, Path, description = "3-digit area code"), AsOf),
    responses((status = 200, description = "The area code", body = AreaCodeDetail), ApiError)
)]
pub async fn area_code_plan(
    State(app): State<App>,
    PathParams([npa]): PathParams<1>,
    as_of: AsOf,
) -> Result<Response, ApiError> {
    let npa: Npa = parse_param("npa", &npa)?;
    let key = RecordKey::AreaCode(npa);
    let dataset = match app.past(&as_of).await? {
        None => app.dataset_for_listing(&VersionParam { version: None }).await?.dataset,
        Some(past) => past.dataset(key).await?,
    };
    let area_code = dataset.area_code(npa).ok_or_else(|| ApiError::no_record(key))?;
    Ok(json_response(&AreaCodeDetail::new(area_code, &dataset, as_of.date())))
}

impl AreaCodeDetail {
    fn new(area_code: AreaCode, dataset: &Dataset, today: Date) -> Self {
        let npa = area_code.npa;
        let status = Some(Status::Assigned);
        let assigned = Search { npa: Some(npa), status, ..Search::default() };
        let mut holders = dataset.holders(&assigned, today);
        let is_covered = area_code.is_covered();
        let total_holders = is_covered.then_some(holders.len());
        holders.truncate(MAX_LISTED);
        let mut exchanges_by_status = BTreeMap::from(Status::ALL.map(|status| (status, 0)));
        let mut rate_centers: BTreeMap<String, u32> = BTreeMap::new();
        for Exchange { status, rate_center, .. } in dataset.exchanges_in(npa) {
            *exchanges_by_status.entry(status).or_default() += 1;
            if let Some(rate_center) = rate_center.filter(|_| status == Status::Assigned) {
                *rate_centers.entry(rate_center).or_default() += 1;
            }
        }
        let is_geographic = area_code.plan.service == AreaCodeService::Geographic;
        let time_zones = is_geographic.then(|| dataset.time_zones(npa, time_zones_for_area_codes));
        let NumberingPlan { assigned_on, has_several_time_zones, dialing, relief, notes, .. } =
            (*area_code.plan).clone();
        Self {
            summary: AreaCodeSummary::new(area_code, today),
            assigned_on,
            time_zones: time_zones.unwrap_or_default(),
            has_several_time_zones,
            dialing,
            relief,
            notes,
            exchanges_by_status: is_covered.then_some(exchanges_by_status),
            total_rate_centers: is_covered.then_some(rate_centers.len()),
            rate_centers: largest(rate_centers),
            total_holders,
            holders,
        }
    }
}

fn largest(rate_centers: BTreeMap<String, u32>) -> Vec<RateCenterCount> {
    let mut counts: Vec<_> = rate_centers
        .into_iter()
        .map(|(rate_center, exchanges)| RateCenterCount { rate_center, exchanges })
        .collect();
    // The sort is stable, so equal counts stay sorted by name.
    counts.sort_by_key(|count| Reverse(count.exchanges));
    counts.truncate(MAX_LISTED);
    counts
}
