//! Shared test support: services, databases, requests, reports, and the template.

pub mod api_events;
pub mod databases;
pub mod description;
pub mod endpoints;
pub mod fault_proxy;
pub mod function_calls;
pub mod imports;
pub mod keys;
pub mod lambda_runtime;
pub mod listening;
pub mod processes;
pub mod program;
pub mod service;
pub mod small_reports;
pub mod template;

pub use tnr::openapi::sample_requests;
