//! Lists of phone numbers: their delimiter and line ends ([`Dialect`]), the columns that hold numbers and
//! countries ([`Columns`]), and their rows ([`Rows`]).
//!
//! `POST /v1/format` and `tnr format` read lists by these rules. They differ in what they refuse.

mod columns;
mod dialect;
mod rows;

pub use columns::{ColumnError, Columns, Wanted, looks_like_header};
pub use dialect::{Dialect, LineEnds};
pub use rows::{BUFFER_BYTES, Row, RowError, Rows};
