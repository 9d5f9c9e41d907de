//! Parallel processing of long lists in little memory: one reader thread, one worker per processor,
//! and the calling thread as the writer.
//!
//! Parts are dealt to the workers in turn, and the writer collects them in the same order, so
//! nothing needs sorting. Each thread waits once the next ones have enough parts.

use std::{
    num::NonZero,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

/// The number of parts that may wait before and after each worker.
const WAITING_PARTS: usize = 2;

/// A message between threads; `None` after the last part. An error follows all earlier parts.
type Step<T, E> = Option<Result<T, E>>;

/// Reads all parts, processes each, and writes the results in the same order.
///
/// # Panics
/// Panics if reading or processing does.
pub(super) fn in_order<P, D, E>(
    mut read: impl FnMut() -> Result<Option<P>, E> + Send + 'static,
    work: impl Fn(P) -> D + Send + Sync + 'static,
    mut write: impl FnMut(D) -> Result<(), E>,
) -> Result<(), E>
where
    P: Send + 'static,
    D: Send + 'static,
    E: Send + 'static,
{
    let count = thread::available_parallelism().map_or(1, NonZero::get);
    let work = Arc::new(work);
    let (to_workers, from_workers): (Vec<_>, Vec<_>) =
        (0..count).map(|_| worker(Arc::clone(&work))).unzip();
    thread::spawn(move || {
        for to_worker in to_workers.iter().cycle() {
            let step = read().transpose();
            let is_last = !matches!(step, Some(Ok(_)));
            // Nobody receives after a write error.
            if to_worker.send(step).is_err() || is_last {
                return;
            }
        }
    });
    for from_worker in from_workers.iter().cycle() {
        match from_worker.recv().expect("a thread ends before the last part only by a panic") {
            Some(done) => write(done?)?,
            None => break,
        }
    }
    Ok(())
}

/// A worker's input and output channels.
type Worker<P, D, E> = (SyncSender<Step<P, E>>, Receiver<Step<D, E>>);

fn worker<P, D, E>(work: Arc<impl Fn(P) -> D + Send + Sync + 'static>) -> Worker<P, D, E>
where
    P: Send + 'static,
    D: Send + 'static,
    E: Send + 'static,
{
    let (to_worker, steps) = sync_channel::<Step<P, E>>(WAITING_PARTS);
    let (done, from_worker) = sync_channel(WAITING_PARTS);
    thread::spawn(move || {
        for step in steps {
            if done.send(step.map(|part| part.map(&*work))).is_err() {
                return;
            }
        }
    });
    (to_worker, from_worker)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn parts_are_written_in_reading_order() {
        let mut parts = 0..1000u64;
        let mut written = Vec::new();
        let work = |part: u64| {
            // Some parts take longer than the ones after them.
            thread::sleep(Duration::from_micros((part * 7919) % 300));
            part
        };
        let write = |part| {
            written.push(part);
            Ok(())
        };
        let done: Result<(), ()> = in_order(move || Ok(parts.next()), work, write);
        assert_eq!((done, written), (Ok(()), (0..1000).collect()));
    }

    #[test]
    fn read_errors_follow_everything_read_before() {
        for length in 0..20 {
            let mut parts = 0..length;
            let mut written = 0;
            let read = move || parts.next().map(Some).ok_or("cut off");
            let write = |_| {
                written += 1;
                Ok(())
            };
            let done = in_order(read, |part| part, write);
            assert_eq!((done, written), (Err("cut off"), length));
        }
    }

    #[test]
    fn write_errors_end_an_endless_list() {
        let done = in_order(|| Ok(Some(())), |part| part, |()| Err("closed"));
        assert_eq!(done, Err("closed"));
    }

    #[test]
    #[should_panic(expected = "only by a panic")]
    fn worker_panics_are_propagated() {
        let _: Result<(), ()> = in_order(|| Ok(Some(())), |()| panic!("work"), |()| Ok(()));
    }
}
