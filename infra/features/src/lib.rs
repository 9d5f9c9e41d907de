//! Enables the dependency features that the whole workspace's tests use.
//!
//! Each crate has this one as a dev-dependency, so that `cargo test -p CRATE` and `cargo test --workspace` share all
//! dependency builds. It contains no code.
