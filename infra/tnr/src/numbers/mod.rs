//! Phone numbers: lookups on the terminal, lists of numbers, and tools for agents.

pub mod args;
pub mod find;
pub mod format;
mod input;
pub mod list;
pub mod mcp;
mod pipeline;
pub mod queries;
