//! Numbering data: import, versions, verification, backup, export.

pub mod args;
pub mod backup;
pub mod export;
pub mod import;
pub mod numbering_data;
pub mod report;
pub mod sample;
pub mod verify;
pub mod versions;
