//! Cargo ignores build dependencies in crates without a build script.

fn main() {}
