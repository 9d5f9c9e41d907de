//! Imports and rollbacks, one a night, and the answers after each.

use std::collections::BTreeMap;

use ingest::{ImportReport, Options, RollbackTarget, ingest, rollback};
use jiff::{Timestamp, ToSpan};
use numbering::time::this_second;
use serde_json::Value;
use store::Store;
use tnr::database::Database;

use super::{imports::without_gates, service::Service, small_reports::ReportSet};

/// Lookups whose answers differ between the small reports.
const LOOKUPS: [&str; 6] = [
    "/v1/npa/415?limit=100",
    "/v1/npa/415/nxx/206",
    "/v1/npa/415/nxx/207",
    "/v1/npa/415/nxx/209",
    "/v1/area-codes/416",
    "/v1/carrier/908K",
];

/// A response's status and body.
pub type Answer = (u16, Value);

/// Nights of one deployment.
pub struct Nights {
    /// Owns the database.
    service: Service,
    pub store: Store,
    pub start: Timestamp,
    /// The answers after each night, by target.
    answers: Vec<BTreeMap<&'static str, Answer>>,
}

impl Nights {
    /// Nights with a database behind `store`, which starts empty.
    pub fn new(service: Service, store: Store) -> Self {
        let start = this_second() - (24 * 10).hours();
        Self { service, store, start, answers: Vec::new() }
    }

    pub fn options(&self) -> Options {
        let now = self.start + (24 * self.answers.len() as i64).hours();
        Options { now, ..without_gates() }
    }

    pub async fn import(&mut self, reports: &ReportSet) -> ImportReport {
        let sources = reports.sources();
        let report = ingest(&self.store, &sources, self.options(), |_| ()).await.unwrap();
        self.ask().await;
        report
    }

    pub async fn roll_back(&mut self) -> ImportReport {
        let target = RollbackTarget::NewestReadable;
        let report = rollback(&self.store, &target, self.options(), |_| ()).await.unwrap();
        self.ask().await;
        report
    }

    /// A service with nothing in memory.
    pub async fn fresh_service(&self) -> Service {
        let endpoint = self.service.database.endpoint().to_owned();
        Service::on(Database::at(endpoint).await.unwrap()).await
    }

    async fn ask(&mut self) {
        let service = self.fresh_service().await;
        let mut answers = BTreeMap::new();
        for target in LOOKUPS {
            let (status, body) = service.get_json(target).await;
            answers.insert(target, (status.as_u16(), body));
        }
        self.answers.push(answers);
    }

    /// The lookups of each night, and their answers on that night.
    pub fn past_answers(&self) -> impl Iterator<Item = (usize, String, &Answer)> {
        self.answers.iter().enumerate().flat_map(|(night, answers)| {
            let at = self.start + (24 * night as i64 + 12).hours();
            answers.iter().map(move |(target, answer)| {
                let separator = if target.contains('?') { '&' } else { '?' };
                (night, format!("{target}{separator}as_of={at}"), answer)
            })
        })
    }
}
