//! Errors of CSV as those of input and output.

use std::io;

/// The error of input or output that stopped reading or writing. The conversion of the library hides it
/// in another one of no kind.
pub fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
