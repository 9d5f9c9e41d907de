//! Random sequences of imports, rollbacks and repairs, each killed, refused, answered late or
//! never, delivered twice or stalled at any call, alone or two at once, on any clock, with tables
//! emptied and restored in between. Whatever happens, all lookups equal all lists.
//!
//! `TNR_MODEL_STEPS` sets the number of steps and `TNR_MODEL_SEED` repeats a run.

use std::{
    env,
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
use store::{Store, TimeoutProfile};
use tnr::{commands::keys, database::Database};
use tokio::{runtime::Runtime, task::JoinHandle};

use crate::{
    fault_proxy::{Fault, FaultProxy},
    publishing_model::{
        files::sources,
        reader::Reader,
        steps::{Kind, Run, STEPS_OF_A_SEQUENCE, Step, Table, Trouble, WRITERS, Work, steps},
        tables::Copy,
    },
    service::KEY,
};

mod files;
mod reader;
mod steps;
mod tables;

/// Enough to try every kind of step some times; the checks that land a change ask for more.
const DEFAULT_STEPS: u32 = 120;
/// Sequences that are tried side by side: much of the time is spent waiting.
const WORLDS: u64 = 3;

/// One process that imports, behind a proxy of its own.
struct Writer {
    store: Store,
    proxy: FaultProxy,
    trouble: Arc<Mutex<Option<Trouble>>>,
}

impl Writer {
    async fn before(endpoint: &str) -> Self {
        let trouble: Arc<Mutex<Option<Trouble>>> = Arc::default();
        let current = Arc::clone(&trouble);
        let policy = move |call, _: &str| match *current.lock().unwrap() {
            Some(trouble) => trouble.fault_of(call),
            None => Fault::None,
        };
        let proxy = FaultProxy::before(endpoint, policy).await;
        let store = Store::at(&proxy.endpoint, TimeoutProfile::Batch).await;
        Self { store, proxy, trouble }
    }

    fn meets(&self, trouble: Option<Trouble>) {
        self.proxy.reset();
        *self.trouble.lock().unwrap() = trouble;
    }
}

/// How a run ended, as far as its process knows.
#[derive(Debug)]
enum Ended {
    /// The file set is current, if nothing came after.
    Imported(usize),
    Otherwise,
}

async fn work(store: Store, work: Work) -> Ended {
    match work {
        Work::Import { files, clock } => {
            let options = Options { now: Timestamp::now() + clock.hours(), ..files::any_change() };
            match ingest(&store, &sources(files), options, |_| ()).await {
                Ok(report) => {
                    assert!(!matches!(report.outcome, Outcome::Refused { .. }), "{report:?}");
                    Ended::Imported(files)
                }
                Err(_) => Ended::Otherwise,
            }
        }
        Work::Rollback => {
            _ = rollback(&store, Options::default(), |_| ()).await;
            Ended::Otherwise
        }
        Work::Repair => {
            _ = verify(&store, Repair::Yes, None, |_| ()).await;
            Ended::Otherwise
        }
    }
}

/// The database and the processes around it.
struct World {
    database: Database,
    store: Store,
    writers: Vec<Writer>,
    /// Writers that are stalled in the middle of their work.
    stalled: Vec<(usize, JoinHandle<Ended>)>,
    /// A reader that has not looked for a new version since.
    older: Option<Reader>,
    earlier_items: Option<Copy>,
    steps: usize,
}

impl World {
    async fn new() -> Self {
        let database = Database::in_memory().await.unwrap();
        keys::register(&database.store(), &KEY.parse().unwrap(), "tests").await.unwrap();
        let mut writers = Vec::new();
        for _ in 0..WRITERS {
            writers.push(Writer::before(database.endpoint()).await);
        }
        let store = database.serving_store().await;
        Self {
            database,
            store,
            writers,
            stalled: Vec::new(),
            older: None,
            earlier_items: None,
            steps: 0,
        }
    }

    fn idle_writer(&self, but: Option<usize>) -> Option<usize> {
        let stalled = |writer| self.stalled.iter().any(|(stalled, _)| *stalled == writer);
        (0..WRITERS).find(|&writer| Some(writer) != but && !stalled(writer))
    }

    /// Runs until it ends or stalls; gives how it ended.
    async fn run(&mut self, run: &Run, writer: usize) -> Option<Ended> {
        let Writer { store, .. } = &self.writers[writer];
        self.writers[writer].meets(run.trouble);
        let mut task = tokio::spawn(work(store.clone(), run.work.clone()));
        tokio::select! {
            ended = &mut task => Some(ended.unwrap()),
            () = self.writers[writer].proxy.held() => {
                self.stalled.push((writer, task));
                None
            }
        }
    }

    /// Lets a stalled writer finish; false if there is none. Its version may have been published
    /// before it stalled, and others after that.
    async fn resume(&mut self) -> bool {
        if self.stalled.is_empty() {
            return false;
        }
        let (writer, task) = self.stalled.remove(0);
        self.writers[writer].proxy.release();
        task.await.unwrap();
        true
    }

    /// Takes the step; gives the file set that has to be current now, if that is known.
    async fn take(&mut self, step: &Step) -> Option<usize> {
        let ended = match step {
            Step::Run(run) => match self.idle_writer(None) {
                Some(writer) => self.run(run, writer).await,
                None => {
                    self.resume().await;
                    None
                }
            },
            Step::Together(one, other) => {
                self.run_together(one, other).await;
                None
            }
            Step::Deliver(writer) => {
                self.writers[*writer].proxy.deliver().await;
                None
            }
            Step::Resume => {
                self.resume().await;
                None
            }
            Step::Empty(Table::Lookups) => {
                Copy::empty().restore(&self.store).await;
                None
            }
            Step::Empty(Table::Dataset) => {
                tables::empty_dataset(&self.store).await;
                None
            }
            Step::RestoreLookupTables => {
                let now = Copy::of(&self.store).await;
                if let Some(earlier) = self.earlier_items.replace(now) {
                    earlier.restore(&self.store).await;
                }
                None
            }
        };
        match ended {
            Some(Ended::Imported(files)) => Some(files),
            _ => None,
        }
    }

    async fn run_together(&mut self, one: &Run, other: &Run) {
        let Some(first) = self.idle_writer(None) else { return };
        let Some(second) = self.idle_writer(Some(first)) else { return };
        // Neither may stall here, or the step would not end.
        let going_on = |trouble: Option<Trouble>| trouble.filter(|it| it.kind != Kind::Stalled);
        for (writer, run) in [(first, one), (second, other)] {
            self.writers[writer].meets(going_on(run.trouble));
        }
        let (one, other) = (one.work.clone(), other.work.clone());
        tokio::join!(
            work(self.writers[first].store.clone(), one),
            work(self.writers[second].store.clone(), other)
        );
    }

    /// Compares all lookups with all lists, as a fresh reader and an older one have them.
    async fn check(&mut self, current: Option<usize>) -> Result<(), TestCaseError> {
        let fresh = Reader::new(&self.store);
        fresh.check().await?;
        if let Some(files) = current {
            prop_assert_eq!(fresh.file_set().await, Some(files), "the import that succeeded");
        }
        if let Some(older) = &self.older {
            older.check().await?;
        }
        self.steps += 1;
        if self.steps.is_multiple_of(6) {
            self.older = Some(fresh);
        }
        Ok(())
    }

    /// However it went, the next import succeeds, and a repair leaves nothing that differs.
    async fn conclude(&mut self) -> Result<(), TestCaseError> {
        while self.resume().await {
            self.check(None).await?;
        }
        let store = self.database.store();
        let import = ingest(&store, &sources(0), files::any_change(), |_| ()).await;
        prop_assert!(import.is_ok(), "the next import: {:?}", import.err());
        self.check(Some(0)).await?;
        let again = ingest(&store, &sources(0), files::any_change(), |_| ()).await;
        let again = again.map_err(failed)?;
        prop_assert_eq!(again.outcome, Outcome::Unchanged);
        prop_assert_eq!(again.items.written + again.items.deleted, 0);
        verify(&store, Repair::Yes, None, |_| ()).await.map_err(failed)?;
        let verification = verify(&store, Repair::No, None, |_| ()).await.map_err(failed)?;
        prop_assert_eq!(verification.drift.total(), 0);
        self.check(Some(0)).await
    }
}

fn failed(error: IngestError) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

fn setting<T: std::str::FromStr>(variable: &str) -> Option<T> {
    env::var(variable).ok()?.parse().ok()
}

#[test]
fn whatever_befalls_writers_lookups_equal_lists() {
    let seed = setting("TNR_MODEL_SEED").unwrap_or_else(rand_seed);
    let steps_wanted = setting("TNR_MODEL_STEPS").unwrap_or(DEFAULT_STEPS);
    let sequences_at_least = steps_wanted.div_ceil(STEPS_OF_A_SEQUENCE) * 11 / 10;
    let cases = sequences_at_least.div_ceil(WORLDS as u32);
    let explored = thread::scope(|scope| {
        let worlds = (0..WORLDS).map(|world| scope.spawn(move || explore(seed + world, cases)));
        let worlds: Vec<_> = worlds.collect();
        worlds.into_iter().map(|world| world.join().unwrap()).collect::<Vec<_>>()
    });
    let steps: usize = explored.iter().map(|(steps, _)| steps).sum();
    println!("publishing model: {steps} steps, seed {seed}");
    for (_, tried) in explored {
        if let Err(error) = tried {
            panic!("TNR_MODEL_SEED={seed}: {error}");
        }
    }
}

/// Tries so many sequences, each in a world of its own, and gives how many steps they had.
fn explore(seed: u64, cases: u32) -> (usize, Result<(), TestError<Vec<Step>>>) {
    let taken = AtomicUsize::new(0);
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    let tried = TestRunner::new(config).run(&steps(), |steps| {
        Runtime::new().unwrap().block_on(async {
            let mut world = World::new().await;
            for step in &steps {
                let current = world.take(step).await;
                world.check(current).await?;
                taken.fetch_add(1, Ordering::Relaxed);
            }
            world.conclude().await
        })
    });
    (taken.load(Ordering::Relaxed), tried)
}

fn rand_seed() -> u64 {
    Timestamp::now().as_nanosecond() as u64
}
