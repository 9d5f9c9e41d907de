//! Phone number lists: their delimiter and line endings ([`Dialect`]), the columns with numbers and countries
//! ([`Columns`]), and their rows ([`Rows`]).
//!
//! `POST /v1/format` and `tnr format` share these rules, but reject different lists.

mod column_names;
mod columns;
mod dialect;
mod rows;

pub use column_names::looks_like_header;
pub use columns::{ColumnError, ColumnOptions, Columns};
pub use dialect::{Dialect, LineEndings};
pub use rows::{BUFFER_BYTES, Row, RowError, Rows};
