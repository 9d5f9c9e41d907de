//! Processes long input in parallel while using little memory: one thread per part, up to the number of
//! processors. The calling thread reads and writes.

use std::{
    collections::VecDeque,
    num::NonZero,
    panic::resume_unwind,
    thread::{self, ScopedJoinHandle},
};

/// Processes each part, and writes the results in order. A read error is returned after all earlier parts.
///
/// # Panics
/// Panics if `work` does.
pub fn process_in_order<P: Send, D: Send, E: Send>(
    mut parts: impl Iterator<Item = Result<P, E>>,
    work: impl Fn(P) -> D + Sync,
    mut write: impl FnMut(D) -> Result<(), E>,
) -> Result<(), E> {
    let max_threads = thread::available_parallelism().map_or(1, NonZero::get);
    let work = &work;
    thread::scope(|scope| {
        let mut running = VecDeque::new();
        let mut is_done = false;
        while !is_done {
            let part = parts.next();
            is_done = !matches!(part, Some(Ok(_)));
            running.extend(part.map(|part| scope.spawn(move || part.map(work))));
            loop {
                // Writes only finished parts unless it must wait, because reading may be slow.
                let must_wait = is_done || running.len() >= max_threads;
                let is_due =
                    |oldest: &mut ScopedJoinHandle<'_, _>| must_wait || oldest.is_finished();
                let Some(oldest) = running.pop_front_if(is_due) else { break };
                write(oldest.join().unwrap_or_else(|panic| resume_unwind(panic))?)?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::iter::repeat;

    use super::*;

    #[test]
    fn parts_are_written_in_order_before_a_read_error() {
        let parts = (0..1000).map(Ok).chain([Err("cut off")]);
        let parts = parts.chain(std::iter::from_fn(|| panic!("read after an error")));
        let mut written = Vec::new();
        let work = |part: u64| {
            // Some parts take longer than later parts.
            let steps = (part * 7919) % 300_000;
            assert!((0..steps).map(std::hint::black_box).sum::<u64>() < u64::MAX);
            part
        };
        let write = |part| {
            written.push(part);
            Ok(())
        };
        assert_eq!(process_in_order(parts, work, write), Err("cut off"));
        assert_eq!(written, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn write_errors_stop_reading() {
        let result = process_in_order(repeat(Ok(())), |part| part, |()| Err("closed"));
        assert_eq!(result, Err("closed"));
    }

    #[test]
    #[should_panic(expected = "work")]
    fn panics_are_propagated() {
        let _: Result<(), ()> = process_in_order(repeat(Ok(())), |()| panic!("work"), |()| Ok(()));
    }
}
