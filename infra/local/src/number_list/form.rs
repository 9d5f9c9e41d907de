//! The form of the output.

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputForm {
    Csv,
    JsonLines,
}
