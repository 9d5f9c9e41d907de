//! Imports: published data, refused reports, and interrupted runs.

mod full_scale;
mod history;
mod history_damage;
mod interrupted_imports;
mod publishing_model;
mod reports;
mod unreadable_versions;
mod unrecorded_history;
