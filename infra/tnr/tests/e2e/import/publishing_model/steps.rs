//! Random steps in a sequence.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::files::FILE_SETS;
use crate::support::fault_proxy::Fault;

/// The average number of steps in a sequence.
pub const STEPS_PER_SEQUENCE: u32 = 20;
/// The number of writers. Some may be stalled while two others run concurrently.
pub const WRITERS: usize = 4;
/// More calls than any of these imports makes.
pub const MAX_CALLS: usize = 16;

#[derive(Debug, Clone)]
pub enum Step {
    Run(Run),
    Together(Run, Run),
    /// A writer's oldest undelivered call reaches the database.
    Deliver(usize),
    /// A stalled writer resumes.
    Resume,
    EmptyDatasetTable,
    EmptyLookupTables,
    /// The lookup tables are restored to their state from some steps ago.
    RestoreLookupTables,
}

/// A writer's work, and its disruption, if any.
#[derive(Debug, Clone)]
pub struct Run {
    pub work: Work,
    pub disruption: Option<Disruption>,
}

#[derive(Debug, Clone)]
pub enum Work {
    /// An import of one file set with a clock that is wrong by this many hours.
    Import {
        files: usize,
        clock: i32,
    },
    Rollback,
    Repair,
}

/// A disruption of a writer, and the call that it affects.
#[derive(Debug, Clone, Copy)]
pub struct Disruption {
    pub fault: Fault,
    /// `true` if the writer is killed, so that later calls are rejected.
    is_killed: bool,
    call: usize,
}

fn run() -> impl Strategy<Value = Run> {
    let import =
        (0..FILE_SETS, -60..60_i32).prop_map(|(files, clock)| Work::Import { files, clock });
    let work = prop_oneof![6 => import, 2 => Just(Work::Rollback), 1 => Just(Work::Repair)];
    let fault_and_is_killed = prop_oneof![
        // Killed before or after the call
        3 => Just((Fault::NON_RETRYABLE, true)),
        3 => Just((Fault::CutOff, true)),
        1 => Just((Fault::NON_RETRYABLE, false)),
        2 => Just((Fault::CutOff, false)),
        3 => Just((Fault::Postponed, false)),
        2 => Just((Fault::Repeated, false)),
        3 => Just((Fault::Held, false)),
    ];
    let disruption = (fault_and_is_killed, 1..=MAX_CALLS)
        .prop_map(|((fault, is_killed), call)| Disruption { fault, is_killed, call });
    (work, prop::option::weighted(0.7, disruption))
        .prop_map(|(work, disruption)| Run { work, disruption })
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        10 => run().prop_map(Step::Run),
        3 => (run(), run()).prop_map(|(first, second)| Step::Together(first, second)),
        3 => (0..WRITERS).prop_map(Step::Deliver),
        2 => Just(Step::Resume),
        1 => prop_oneof![Just(Step::EmptyDatasetTable), Just(Step::EmptyLookupTables)],
        1 => Just(Step::RestoreLookupTables),
    ];
    prop::collection::vec(step, 1..2 * STEPS_PER_SEQUENCE as usize)
}

impl Disruption {
    /// The fault injected into a call.
    pub fn fault_at(self, call: usize) -> Fault {
        match call.cmp(&self.call) {
            Ordering::Equal => self.fault,
            Ordering::Greater if self.is_killed => Fault::NON_RETRYABLE,
            Ordering::Less | Ordering::Greater => Fault::None,
        }
    }
}
