//! Imports: published data, refused reports, and interrupted runs.

mod drifting_items;
mod full_scale;
mod gates;
mod history;
mod history_damage;
mod interrupted_imports;
mod progress;
mod publishing_model;
mod replaced_sample;
mod reports;
mod sweeping;
mod thousands_blocks;
mod unreadable_versions;
mod unrecorded_history;
