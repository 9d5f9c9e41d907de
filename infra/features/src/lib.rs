//! Features of dependencies as the tests of the whole workspace build them.
//!
//! Each crate has this one as a dev-dependency, so `cargo test -p CRATE` builds nothing that `cargo test --workspace`
//! has built before, and the other way around. Nothing is called here.
