//! Tests imports: published data, refused reports, and interrupted runs.

mod full_scale;
mod history;
mod history_faults;
mod interrupted_imports;
mod publishing_model;
mod reports;
mod unreadable_versions;
