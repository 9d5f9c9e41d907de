//! The time that each kind of work takes.

use std::{
    fmt,
    num::NonZero,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Instant,
};

use indicatif::HumanCount;

/// Times since the start. Reading includes waiting for a pipe.
pub(super) struct Times {
    start: Instant,
    pub reading: Stopwatch,
    pub describing: Stopwatch,
    pub writing: Stopwatch,
}

impl Times {
    pub fn start() -> Self {
        let [reading, describing, writing] = Default::default();
        Self { start: Instant::now(), reading, describing, writing }
    }

    /// The line for a list with this many rows.
    pub fn report(&self, rows: u64) -> String {
        let Self { start, reading, describing, writing } = self;
        let seconds = start.elapsed().as_secs_f64();
        let rate = HumanCount((rows as f64 / seconds.max(1e-6)) as u64);
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        format!(
            "{seconds:.1} s, {rate} rows/s: reading {reading}, describing {describing} on {threads} \
             threads, writing {writing}\n"
        )
    }
}

/// The time spent on one kind of work, in microseconds summed across threads.
#[derive(Default)]
pub(super) struct Stopwatch(AtomicU64);

impl Stopwatch {
    /// Runs `work` and adds its duration.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.0.fetch_add(start.elapsed().as_micros() as u64, Ordering::Relaxed);
        result
    }
}

impl fmt::Display for Stopwatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} s", self.0.load(Ordering::Relaxed) as f64 / 1e6)
    }
}
