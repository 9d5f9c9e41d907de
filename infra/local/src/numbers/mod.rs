//! Phone numbers: lookups on the terminal, lists of numbers, and tools for agents.

pub mod args;
pub mod format;
pub mod list;
pub mod mcp;
pub mod queries;
