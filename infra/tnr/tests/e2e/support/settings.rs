//! Settings of a test in environment variables.

use std::{env, str::FromStr};

/// The numeric value of a variable, if set.
pub fn setting<T: FromStr>(variable: &str) -> Option<T> {
    let text = env::var(variable).ok()?;
    let Ok(value) = text.parse() else { panic!("{variable} must be a number, got '{text}'") };
    Some(value)
}
