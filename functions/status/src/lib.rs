//! Reports health, statistics and the sources of the data. No key is required.

mod sources;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::State,
    http::{HeaderName, StatusCode, header},
    response::{IntoResponse, Response},
};
use numbering::records::Statistics;
use serde::Serialize;
use shared::{
    errors::{ApiError, PublicError},
    request_context, route,
    routes::Routes,
    state::App,
};
use store::{DatasetError, Gap, ServedVersion, Snapshot, StoreError};
use utoipa::ToSchema;

/// The header with the data version. The bodies have fixed fields, so this is not part of them.
const DATA_VERSION: HeaderName = HeaderName::from_static("x-data-version");

/// The header that marks sample data. The bodies have fixed fields, so this is not part of them.
const NUMBERING_DATA: HeaderName = HeaderName::from_static("x-numbering-data");

/// The header that marks sample data; absent for real data.
type SampleHeader = Option<[(HeaderName, &'static str); 1]>;

fn sample_header(snapshot: &Snapshot) -> SampleHeader {
    snapshot.is_sample().then_some([(NUMBERING_DATA, "sample")])
}

/// This function's routes, with and without the version prefix. They do not require a key.
pub fn routes() -> Routes {
    Routes::public([
        route!(health),
        route!(health).unversioned(),
        route!(stats),
        route!(stats).unversioned(),
        route!(sources::sources),
    ])
}

/// The service's health.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    pub status: ServiceStatus,
    pub database: DatabaseStatus,
    /// Time of the last successful import; `null` before the first one.
    #[schema(required, format = DateTime)]
    pub last_ingestion: Option<String>,
    /// API version number.
    #[schema(example = "0.1.0")]
    pub version: &'static str,
}

/// The service's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServiceStatus {
    /// All systems operational.
    Healthy,
    /// Limited service: no data yet, only data in memory, only an older version, a damaged history, or no access to API
    /// keys.
    Degraded,
    /// No service: neither the database nor memory has a readable version.
    Unhealthy,
}

/// Status of the database connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DatabaseStatus {
    Connected,
    Error,
}

/// The database status if the history is missing or damaged, or the database is not responding; `None` if all is well
/// or the next import will add what is missing. Reads the history at most once an hour per version.
async fn history_problem(app: &App) -> Option<DatabaseStatus> {
    match app.history().await {
        Ok(history) if history.gap() != Some(Gap::Damaged) => None,
        Ok(_) | Err(ApiError::NoHistory(StoreError::DamagedHistory { .. })) => {
            Some(DatabaseStatus::Connected)
        }
        Err(_) => Some(DatabaseStatus::Error),
    }
}

impl Health {
    fn new(serving: &ServedVersion) -> Self {
        let (status, database) = match serving {
            ServedVersion::Current(_) => (ServiceStatus::Healthy, DatabaseStatus::Connected),
            ServedVersion::Older(_) | ServedVersion::Empty => {
                (ServiceStatus::Degraded, DatabaseStatus::Connected)
            }
            ServedVersion::Memory(_) => (ServiceStatus::Degraded, DatabaseStatus::Error),
            ServedVersion::Unavailable(_) => (ServiceStatus::Unhealthy, DatabaseStatus::Error),
        };
        let last_ingestion = serving.snapshot().map(|snapshot| snapshot.ingested_at.to_string());
        Self { status, database, last_ingestion, version: env!("CARGO_PKG_VERSION") }
    }
}

impl IntoResponse for Health {
    fn into_response(self) -> Response {
        let status = match self.status {
            ServiceStatus::Healthy => return Json(self).into_response(),
            ServiceStatus::Degraded => StatusCode::OK,
            ServiceStatus::Unhealthy => StatusCode::SERVICE_UNAVAILABLE,
        };
        // A cached error must not outlive the outage.
        (status, [(header::CACHE_CONTROL, "no-store")], Json(self)).into_response()
    }
}

/// Database record counts.
#[derive(Debug, Serialize, ToSchema)]
pub struct Stats {
    /// Total NPA-NXX records.
    pub total_records: u32,
    /// Record count by country code.
    pub by_country: BTreeMap<String, u32>,
    /// Record count by assignment status.
    pub by_status: BTreeMap<String, u32>,
    pub last_updated: LastUpdated,
    pub coverage: Coverage,
}

/// Statistics, and a header with the data version.
type StatsWithVersion = ([(HeaderName, String); 1], SampleHeader, Json<Stats>);

/// Coverage of the numbering plan.
#[derive(Debug, Serialize, ToSchema)]
pub struct Coverage {
    /// Number of area codes that have exchanges.
    pub area_codes: u32,
    /// Number of states and provinces with exchanges.
    pub states_provinces: u32,
}

/// Time of each report's last import. Both are the same, since an import reads all reports.
#[derive(Debug, Serialize, ToSchema)]
pub struct LastUpdated {
    /// Time of the last import of the US data.
    #[serde(rename = "NANPA")]
    #[schema(format = DateTime)]
    nanpa: String,
    /// Time of the last import of the Canadian data.
    #[serde(rename = "CNAC")]
    #[schema(format = DateTime)]
    cnac: String,
}

impl From<Snapshot> for Stats {
    fn from(Snapshot { statistics, ingested_at, .. }: Snapshot) -> Self {
        let Statistics { total_records, by_country, by_status, area_codes, states_provinces } =
            statistics;
        let (by_country, by_status) = (with_string_keys(by_country), with_string_keys(by_status));
        let [nanpa, cnac] = [(); 2].map(|()| ingested_at.to_string());
        let last_updated = LastUpdated { nanpa, cnac };
        let coverage = Coverage { area_codes, states_provinces };
        Self { total_records, by_country, by_status, last_updated, coverage }
    }
}

fn with_string_keys<K: ToString>(counts: BTreeMap<K, u32>) -> BTreeMap<String, u32> {
    counts.into_iter().map(|(key, count)| (key.to_string(), count)).collect()
}

/// Health
#[utoipa::path(
    get, path = "/v1/health", operation_id = "getHealth", tag = "Status", security(()),
    responses(
        PublicError,
        (
            status = 200, description = "The service is up", body = Health,
            headers(("X-Numbering-Data"))
        ),
        (
            status = 503, description = "The service is unhealthy", body = Health,
            examples((
                "unhealthy" = (value = json!(Health::new(&ServedVersion::Unavailable(DatasetError::StillUnreadable))))
            ))
        )
    )
)]
async fn health(State(app): State<App>) -> (SampleHeader, Health) {
    let serving = app.dataset.serving().await;
    let mut health = Health::new(&serving);
    if matches!(serving, ServedVersion::Current(_))
        && let Some(database) = history_problem(&app).await
    {
        (health.status, health.database) = (ServiceStatus::Degraded, database);
    }
    if health.database == DatabaseStatus::Connected && !app.keys.is_table_responding().await {
        (health.status, health.database) = (ServiceStatus::Degraded, DatabaseStatus::Error);
    }
    (serving.snapshot().and_then(sample_header), health)
}

/// Database statistics
#[utoipa::path(
    get, path = "/v1/stats", operation_id = "getStats", tag = "Status", security(()),
    responses(
        PublicError,
        (
            status = 200, description = "Database counts", body = Stats,
            headers(("X-Data-Version"), ("X-Numbering-Data"))
        )
    )
)]
async fn stats(State(app): State<App>) -> Result<StatsWithVersion, ApiError> {
    let snapshot = current_snapshot(&app).await?;
    let version = snapshot.version.to_string();
    Ok(([(DATA_VERSION, version)], sample_header(&snapshot), Json(snapshot.into())))
}

/// The version used by lists and lookups.
async fn current_snapshot(app: &App) -> Result<Snapshot, ApiError> {
    let snapshot = match app.dataset.serving().await {
        ServedVersion::Unavailable(error) => return Err(ApiError::from_dataset_error(&error)),
        serving => serving.snapshot().cloned().ok_or(ApiError::Unavailable)?,
    };
    let version = snapshot.version.to_string();
    request_context::record(|context| context.data_version = Some(version));
    Ok(snapshot)
}
