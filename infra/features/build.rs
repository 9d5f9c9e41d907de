//! Cargo ignores build dependencies of crates without a build script.

fn main() {}
