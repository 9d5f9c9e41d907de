//! Tests imports: published data, interrupted runs and the history. The `import`, `gates` and `unreadable` sessions
//! cover refused and unreadable reports and versions.

mod countries;
mod full_scale;
mod history;
mod history_faults;
mod interrupted_imports;
mod publishing_model;
