//! Reports health and statistics, without a key.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::State,
    http::{HeaderName, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Serialize;
use shared::{
    app::Routes,
    errors::{ApiError, PublicError},
    request_context,
    state::App,
};
use store::{DatasetError, Serving, Snapshot};
use utoipa::{ToSchema, openapi::PathItem};
use utoipa_axum::{router::OpenApiRouter, routes};

/// Names the data version, which the statistics' fields must not.
const DATA_VERSION: HeaderName = HeaderName::from_static("x-data-version");

/// Marks made-up sample data, which the bodies' fields must not.
const NUMBERING_DATA: HeaderName = HeaderName::from_static("x-numbering-data");

/// The header of responses about the sample; absent for published data.
type SampleMark = Option<[(HeaderName, &'static str); 1]>;

fn sample_mark(snapshot: &Snapshot) -> SampleMark {
    snapshot.is_sample().then_some([(NUMBERING_DATA, "sample")])
}

/// The routes of this function, which require no key, with and without the version prefix.
pub fn routes() -> Routes {
    let mut routes = OpenApiRouter::default()
        .routes(routes!(health))
        .routes(routes!(stats))
        .route("/health", get(health))
        .route("/stats", get(stats));
    let paths = &mut routes.get_openapi_mut().paths.paths;
    for path in ["/health", "/stats"] {
        let versioned = paths.get(&format!("/v1{path}")).expect("it is described");
        let unversioned = without_version(versioned.clone());
        paths.insert(path.to_owned(), unversioned);
    }
    Routes::public(routes)
}

/// The description of a path without the version prefix.
fn without_version(mut path: PathItem) -> PathItem {
    if let Some(operation) = &mut path.get {
        operation.summary =
            operation.summary.as_ref().map(|it| format!("{it}, without the version prefix"));
        operation.operation_id =
            operation.operation_id.as_ref().map(|it| format!("{it}Unversioned"));
    }
    path
}

/// The health of the service.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    pub status: ServiceStatus,
    pub database: DatabaseStatus,
    /// Time of the last successful import; `null` before the first.
    #[schema(required, format = DateTime)]
    pub last_ingestion: Option<String>,
    /// API version number.
    #[schema(example = "0.1.0")]
    pub version: &'static str,
}

/// Status of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServiceStatus {
    /// All systems operational.
    Healthy,
    /// Limited service: no data yet, only what is in memory, or only an older version than the current one.
    Degraded,
    /// Nothing can be answered: the database or every version in it cannot be read, and nothing is in memory.
    Unhealthy,
}

/// Connection to the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DatabaseStatus {
    Connected,
    Error,
}

impl Health {
    fn from_serving(serving: &Serving) -> Self {
        let (status, database) = match serving {
            Serving::Current(_) => (ServiceStatus::Healthy, DatabaseStatus::Connected),
            Serving::Older(_) | Serving::Empty => {
                (ServiceStatus::Degraded, DatabaseStatus::Connected)
            }
            Serving::Memory(_) => (ServiceStatus::Degraded, DatabaseStatus::Error),
            Serving::Nothing(_) => (ServiceStatus::Unhealthy, DatabaseStatus::Error),
        };
        let last_ingestion = serving.snapshot().map(|snapshot| snapshot.ingested_at.to_string());
        Self { status, database, last_ingestion, version: env!("CARGO_PKG_VERSION") }
    }
}

impl IntoResponse for Health {
    fn into_response(self) -> Response {
        // A cached error must not outlive the outage.
        let no_store = [(header::CACHE_CONTROL, "no-store")];
        match self.status {
            ServiceStatus::Healthy => Json(self).into_response(),
            ServiceStatus::Degraded => (no_store, Json(self)).into_response(),
            ServiceStatus::Unhealthy => {
                (StatusCode::SERVICE_UNAVAILABLE, Json(self)).into_response()
            }
        }
    }
}

/// Database counts.
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

/// Statistics, with a header that names their version.
type StatsWithVersion = ([(HeaderName, String); 1], SampleMark, Json<Stats>);

/// Coverage of the numbering plan.
#[derive(Debug, Serialize, ToSchema)]
pub struct Coverage {
    /// Number of area codes that have exchanges.
    pub area_codes: u32,
    /// Number of states and provinces covered.
    pub states_provinces: u32,
}

/// Time of each report's last import. The times are equal, since an import reads all reports.
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
        Self {
            total_records: statistics.total_records,
            by_country: by_name(statistics.by_country),
            by_status: by_name(statistics.by_status),
            last_updated: LastUpdated {
                nanpa: ingested_at.to_string(),
                cnac: ingested_at.to_string(),
            },
            coverage: Coverage {
                area_codes: statistics.area_codes,
                states_provinces: statistics.states_provinces,
            },
        }
    }
}

fn by_name<K: ToString>(counts: BTreeMap<K, u32>) -> BTreeMap<String, u32> {
    counts.into_iter().map(|(key, count)| (key.to_string(), count)).collect()
}

/// Health
#[utoipa::path(
    get, path = "/v1/health", operation_id = "getHealth", tag = "Status", security(()),
    responses(
        PublicError,
        (
            status = 200, description = "The service answers", body = Health,
            headers((
                "X-Numbering-Data" = Option<String>,
                description = "'sample' as long as the data is the made-up sample."
            ))
        ),
        (
            status = 503, description = "The service is unhealthy", body = Health,
            examples((
                "unhealthy" = (value = json!(Health::from_serving(&Serving::Nothing(DatasetError::StillUnreadable))))
            ))
        )
    )
)]
async fn health(State(app): State<App>) -> (SampleMark, Health) {
    let serving = app.dataset.serving().await;
    (serving.snapshot().and_then(sample_mark), Health::from_serving(&serving))
}

/// Database statistics
#[utoipa::path(
    get, path = "/v1/stats", operation_id = "getStats", tag = "Status", security(()),
    responses(
        PublicError,
        (
            status = 200, description = "Counts over the database", body = Stats,
            headers(
                ("X-Data-Version" = String, description = "The version of the data that is counted."),
                (
                    "X-Numbering-Data" = Option<String>,
                    description = "'sample' as long as the data is the made-up sample."
                )
            )
        )
    )
)]
async fn stats(State(app): State<App>) -> Result<StatsWithVersion, ApiError> {
    // The version used to answer lists and lookups.
    let snapshot = match app.dataset.serving().await {
        Serving::Current(snapshot) | Serving::Older(snapshot) | Serving::Memory(snapshot) => {
            snapshot
        }
        Serving::Empty => return Err(ApiError::Unavailable),
        Serving::Nothing(error) => return Err(ApiError::without_dataset(&error)),
    };
    let version = snapshot.version.to_string();
    request_context::record(|context| context.data_version = Some(version.clone()));
    Ok(([(DATA_VERSION, version)], sample_mark(&snapshot), Json(snapshot.into())))
}
