//! The service from outside: started on an embedded DynamoDB, spoken to over HTTP.

mod authentication;
mod carriers;
mod commands;
mod deployment;
mod drift;
mod events;
mod failures;
mod fault_proxy;
mod faults;
mod format;
mod full_scale;
mod gates;
mod ingest;
mod npa;
mod openapi;
mod pagination;
mod quota;
mod search;
mod service;
mod small_set;
mod sources;
mod status;
mod telemetry;
mod versions;
