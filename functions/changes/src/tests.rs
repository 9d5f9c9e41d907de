//! Route tests.
