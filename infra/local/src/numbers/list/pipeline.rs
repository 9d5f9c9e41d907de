//! Work on a long list with all processors and little memory: one thread reads, one for each processor
//! works, and the calling thread writes in the order of the list.
//!
//! The parts go round: the first worker has the first part, the second worker the second one, and so
//! on, and the writer asks the workers in the same turn. So nothing has to be put in order, and each
//! thread waits once those after it have a few parts to do.

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

/// A message from one thread to the next; `None` after the last part. An error follows all earlier parts.
type Step<T, E> = Option<Result<T, E>>;

/// Reads parts until there is none, works on each, and writes the results in the same order.
///
/// # Panics
/// Panics if reading or working does.
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
            // Nobody receives any more if writing has failed.
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

/// The two ends of a worker: its parts go into the first, and the results come out of the second.
type Worker<P, D, E> = (SyncSender<Step<P, E>>, Receiver<Step<D, E>>);

/// Starts a worker.
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
    fn parts_are_written_in_the_order_in_which_they_were_read() {
        let mut parts = 0..1000u64;
        let mut written = Vec::new();
        let work = |part: u64| {
            // Some parts take longer than those after them.
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
    fn an_error_of_reading_comes_after_all_that_was_read_before() {
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
    fn an_error_of_writing_ends_an_endless_list() {
        let done = in_order(|| Ok(Some(())), |part| part, |()| Err("closed"));
        assert_eq!(done, Err("closed"));
    }

    #[test]
    #[should_panic(expected = "only by a panic")]
    fn a_panic_of_a_worker_is_not_a_silent_end() {
        let _: Result<(), ()> = in_order(|| Ok(Some(())), |()| panic!("work"), |()| Ok(()));
    }
}
