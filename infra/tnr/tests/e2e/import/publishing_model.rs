//! Runs random sequences of imports, rollbacks and repairs that are killed, rejected, delayed, repeated or stalled
//! at any call. They run alone or in pairs, with wrong clocks, while tables are emptied and restored. After
//! every step, all lookups must match all lists, and the history must lead back to each version.
//!
//! `TNR_MODEL_STEPS` sets the number of steps and `TNR_MODEL_SEED` repeats a run.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use ingest::{IngestError, Options, Outcome, Repair, ingest, rollback, verify};
use jiff::{Timestamp, ToSpan};
use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner},
};
use store::{LoadedVersion, Manifest, Store};
use tnr::database::Database;
use tokio::{runtime::Runtime, task::JoinHandle};

use self::{
    files::sources,
    past::{LookupTables, Past, empty},
    reader::Reader,
    steps::{Disruption, Run, STEPS_PER_SEQUENCE, Step, WRITERS, Work, steps},
};
use crate::support::{
    databases,
    fault_proxy::{Call, Fault, FaultProxy},
    imports::without_gates,
    processes::setting,
};

mod files;
mod past;
mod reader;
mod steps;

/// Enough steps to try every kind several times. `.ci/run` sets more.
const DEFAULT_STEPS: u32 = 120;
/// The number of sequences to run concurrently. They mostly wait.
const CONCURRENT_SEQUENCES: u64 = 3;

/// An importing process, behind its own proxy.
struct Writer {
    store: Store,
    proxy: FaultProxy,
    disruption: Arc<Mutex<Option<Disruption>>>,
}

impl Writer {
    async fn new(endpoint: &str) -> Self {
        let disruption: Arc<Mutex<Option<Disruption>>> = Arc::default();
        let current = Arc::clone(&disruption);
        let policy = move |call: &Call| match *current.lock().unwrap() {
            Some(disruption) => disruption.fault_at(call.number),
            None => Fault::None,
        };
        let proxy = FaultProxy::new(endpoint, policy).await;
        Self { store: proxy.store(), proxy, disruption }
    }

    /// Sets the disruption of later calls.
    fn set_disruption(&self, disruption: Option<Disruption>) {
        self.proxy.reset_call_count();
        *self.disruption.lock().unwrap() = disruption;
    }
}

/// Executes a run's operation, and returns the imported file set. It is current unless another run has published since then.
async fn work(store: &Store, run: &Run) -> Option<usize> {
    match run.work {
        Work::Import { files, clock } => {
            let options = Options { now: Timestamp::now() + clock.hours(), ..without_gates() };
            let report = ingest(store, &sources(files), options, |_| ()).await.ok()?;
            assert!(!matches!(report.outcome, Outcome::Refused { .. }), "{report:?}");
            return Some(files);
        }
        Work::Rollback => _ = rollback(store, None, Options::default(), |_| ()).await,
        Work::Repair => _ = verify(store, Repair::Yes, None, |_| ()).await,
    }
    None
}

/// The database and its processes.
struct Simulation {
    database: Database,
    store: Store,
    writers: Vec<Writer>,
    /// Writers that stalled in the middle of their work.
    stalled: Vec<(usize, JoinHandle<Option<usize>>)>,
    /// Readers that last checked for a new version several steps ago.
    stale_readers: Vec<Reader>,
    /// `true` if a version was readable after the last step.
    is_serving: bool,
    past: Past,
    earlier_items: Option<LookupTables>,
    steps: usize,
}

impl Simulation {
    async fn new() -> Self {
        let database = databases::empty().await;
        let mut writers = Vec::new();
        for _ in 0..WRITERS {
            writers.push(Writer::new(database.endpoint()).await);
        }
        let store = database.serving_store().await;
        Self {
            database,
            store,
            writers,
            stalled: Vec::new(),
            stale_readers: Vec::new(),
            is_serving: false,
            past: Past::default(),
            earlier_items: None,
            steps: 0,
        }
    }

    /// A writer that is not stalled, excluding `except`.
    fn idle_writer(&self, except: Option<usize>) -> Option<usize> {
        let stalled = |writer| self.stalled.iter().any(|(stalled, _)| *stalled == writer);
        (0..WRITERS).find(|&writer| Some(writer) != except && !stalled(writer))
    }

    /// Executes a run until it finishes or stalls, and returns the imported file set.
    async fn run(&mut self, run: &Run, writer: usize) -> Option<usize> {
        let (store, run) = (self.writers[writer].store.clone(), run.clone());
        self.writers[writer].set_disruption(run.disruption);
        let mut task = tokio::spawn(async move { work(&store, &run).await });
        tokio::select! {
            result = &mut task => result.unwrap(),
            () = self.writers[writer].proxy.wait_until_held() => {
                self.stalled.push((writer, task));
                None
            }
        }
    }

    /// Lets a stalled writer finish. Returns `false` if no writer is stalled. The writer's version may have been
    /// published before it stalled, and others since then.
    async fn resume(&mut self) -> bool {
        if self.stalled.is_empty() {
            return false;
        }
        let (writer, task) = self.stalled.remove(0);
        self.writers[writer].proxy.release();
        task.await.unwrap();
        true
    }

    /// Executes the step, and returns the file set that must now be current, if known.
    async fn take(&mut self, step: &Step) -> Option<usize> {
        match step {
            Step::Run(run) => match self.idle_writer(None) {
                Some(writer) => return self.run(run, writer).await,
                None => _ = self.resume().await,
            },
            Step::Together(first, second) => self.run_together(first, second).await,
            Step::Deliver(writer) => self.writers[*writer].proxy.deliver().await,
            Step::Resume => _ = self.resume().await,
            Step::EmptyDatasetTable => empty(&self.store, "dataset", "id").await,
            Step::EmptyLookupTables => LookupTables::default().restore(&self.store).await,
            Step::RestoreLookupTables => {
                let now = LookupTables::read(&self.store).await;
                if let Some(earlier) = self.earlier_items.replace(now) {
                    earlier.restore(&self.store).await;
                }
            }
        }
        None
    }

    async fn run_together(&mut self, first_run: &Run, second_run: &Run) {
        let Some(first) = self.idle_writer(None) else { return };
        let Some(second) = self.idle_writer(Some(first)) else { return };
        // Neither may stall here, because the step would never end.
        let unstalled =
            |disruption: Option<Disruption>| disruption.filter(|it| it.fault != Fault::Held);
        for (writer, run) in [(first, first_run), (second, second_run)] {
            self.writers[writer].set_disruption(unstalled(run.disruption));
        }
        tokio::join!(
            work(&self.writers[first].store, first_run),
            work(&self.writers[second].store, second_run)
        );
    }

    /// Compares all lookups with all lists, for a fresh reader and older readers.
    async fn check(&mut self, current: Option<usize>) -> Result<(), TestCaseError> {
        let manifest = self.store.manifest().await.unwrap();
        let fresh = Reader::new(&self.store);
        fresh.check().await?;
        self.check_served_version(&fresh, manifest.as_ref()).await?;
        if current.is_some() {
            prop_assert_eq!(fresh.file_set().await, current, "the import that succeeded");
        }
        for reader in &self.stale_readers {
            reader.check().await?;
        }
        self.steps += 1;
        if self.steps.is_multiple_of(6) {
            self.stale_readers = vec![fresh];
        }
        match &manifest {
            Some(manifest) if self.steps.is_multiple_of(4) => {
                self.past.check(&self.store, manifest).await
            }
            _ => Ok(()),
        }
    }

    /// Asserts that the reader has data if anything has been published, and that its health shows whether it uses
    /// the current version.
    async fn check_served_version(
        &mut self,
        reader: &Reader,
        manifest: Option<&Manifest>,
    ) -> Result<(), TestCaseError> {
        let was_serving = std::mem::take(&mut self.is_serving);
        let Some(manifest) = manifest else { return Ok(()) };
        let loaded = reader.version().await?;
        if let Some(LoadedVersion { version, dataset }) = &loaded
            && *version == manifest.current.version
        {
            self.past.add(manifest, dataset);
        }
        let version = loaded.map(|loaded| loaded.version);
        prop_assert!(version.is_some() || !was_serving, "no readable version is left");
        let expected = match &version {
            Some(version) if *version == manifest.current.version => "healthy",
            Some(_) => "degraded",
            None => "unhealthy",
        };
        prop_assert_eq!(reader.health().await, expected);
        self.is_serving = version.is_some();
        Ok(())
    }

    /// Asserts that the next import succeeds, and that a repair leaves no drift.
    async fn finish(&mut self) -> Result<(), TestCaseError> {
        while self.resume().await {
            self.check(None).await?;
        }
        let store = &self.database.store();
        let import = ingest(store, &sources(0), without_gates(), |_| ()).await;
        prop_assert!(import.is_ok(), "the next import: {:?}", import.err());
        self.check(Some(0)).await?;
        let again = ingest(store, &sources(0), without_gates(), |_| ()).await.map_err(failure)?;
        prop_assert_eq!(again.outcome, Outcome::Unchanged);
        prop_assert_eq!(again.items.written + again.items.deleted, 0);
        verify(store, Repair::Yes, None, |_| ()).await.map_err(failure)?;
        let verification = verify(store, Repair::No, None, |_| ()).await.map_err(failure)?;
        prop_assert_eq!(verification.drift.total(), 0);
        self.check(Some(0)).await?;
        let manifest = store.manifest().await.unwrap().unwrap();
        prop_assert!(manifest.unrecorded.is_empty(), "{:?}", manifest);
        self.past.check(store, &manifest).await
    }
}

fn failure(error: IngestError) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

#[test]
fn lookups_always_match_lists_despite_faulty_writers() {
    let seed = setting("TNR_MODEL_SEED").unwrap_or_else(|| u64::from(rand::random::<u32>()));
    let min_steps = setting("TNR_MODEL_STEPS").unwrap_or(DEFAULT_STEPS);
    let min_sequences = min_steps.div_ceil(STEPS_PER_SEQUENCE) * 11 / 10;
    let cases = min_sequences.div_ceil(CONCURRENT_SEQUENCES as u32);
    let results = thread::scope(|scope| {
        let threads = (0..CONCURRENT_SEQUENCES)
            .map(|simulation| scope.spawn(move || run_sequences(seed + simulation, cases)));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|simulation| simulation.join().unwrap()).collect::<Vec<_>>()
    });
    let steps: usize = results.iter().map(|(steps, _)| steps).sum();
    println!("publishing model: {steps} steps, seed {seed}");
    for (_, result) in results {
        if let Err(error) = result {
            panic!("TNR_MODEL_SEED={seed}: {error}");
        }
    }
}

/// Runs this many sequences, each in its own simulation. Returns the number of steps.
fn run_sequences(seed: u64, cases: u32) -> (usize, Result<(), TestError<Vec<Step>>>) {
    let steps_taken = AtomicUsize::new(0);
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    let result = TestRunner::new(config).run(&steps(), |steps| {
        Runtime::new().unwrap().block_on(async {
            let mut simulation = Simulation::new().await;
            for step in &steps {
                let current = simulation.take(step).await;
                simulation.check(current).await?;
                steps_taken.fetch_add(1, Ordering::Relaxed);
            }
            simulation.finish().await
        })
    });
    (steps_taken.load(Ordering::Relaxed), result)
}
