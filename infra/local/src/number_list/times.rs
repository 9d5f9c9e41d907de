//! The time that the work on a list takes, by kind.

use std::{
    fmt,
    num::NonZero,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use indicatif::HumanCount;

/// The time that each kind of work has taken, that of all threads together.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// Includes the wait for a pipe.
    pub reading: Stopwatch,
    pub describing: Stopwatch,
    pub writing: Stopwatch,
}

/// The time of one kind of work.
#[derive(Debug, Default)]
pub(super) struct Stopwatch {
    microseconds: AtomicU64,
}

impl Stopwatch {
    /// Does the work, and adds the time that it takes.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = work();
        let microseconds = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_add(microseconds, Ordering::Relaxed);
        done
    }
}

impl fmt::Display for Stopwatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = Duration::from_micros(self.microseconds.load(Ordering::Relaxed));
        write!(f, "{:.1} s", taken.as_secs_f64())
    }
}

impl Times {
    /// The times for a person, and how many rows were done in a second.
    pub fn report(&self, rows: u64, total: Duration) -> String {
        let Self { reading, describing, writing } = self;
        let seconds = total.as_secs_f64();
        let rate = HumanCount((rows as f64 / seconds.max(1e-6)) as u64);
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        format!(
            "{seconds:.1} s, {rate} rows/s: reading {reading}, describing {describing} on {threads} \
             threads, writing {writing}\n"
        )
    }
}
