//! Numbering data: import, versions, verification, backup, export.

pub mod args;
pub mod backup;
pub mod export;
pub mod import;
pub mod import_progress;
pub mod numbering_data;
pub mod quality;
pub mod report;
pub mod rollback;
pub mod sample;
pub mod verify;
pub mod versions;
