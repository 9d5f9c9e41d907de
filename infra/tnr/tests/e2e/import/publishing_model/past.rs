//! The versions that were published, to compare the history with.

use std::{collections::HashMap, sync::Arc};

use jiff::Timestamp;
use numbering::{dataset::Dataset, records::Version};
use proptest::{prop_assert, prop_assert_eq, test_runner::TestCaseError};
use store::{Gap, Manifest, Store};

/// The dataset of each publication that was current after a step.
#[derive(Default)]
pub struct Past(HashMap<Version, Arc<Dataset>>);

impl Past {
    pub fn add(&mut self, manifest: &Manifest, dataset: &Arc<Dataset>) {
        self.0.insert(manifest.publication.id.clone(), Arc::clone(dataset));
    }

    /// Asserts that the history leads back to the first version and each one since.
    pub async fn check(&self, store: &Store, manifest: &Manifest) -> Result<(), TestCaseError> {
        let Some(current) = self.0.get(&manifest.publication.id) else { return Ok(()) };
        let history = store.history(manifest, Timestamp::now()).await.unwrap();
        // Every version can be compared with the one before, so no difference is missing, unless it could not be written.
        match history.gap() {
            None => prop_assert_eq!(history.start().number, 0, "{:?}", history),
            gap => prop_assert_eq!(gap, Some(Gap::Unrecorded), "{:?}", history),
        }
        let mut newer: Option<Dataset> = None;
        for (position, difference) in history.differences_after(0).iter().enumerate().rev() {
            let difference = store.difference(difference).await.unwrap();
            let older = difference.undo(newer.as_ref().unwrap_or(current));
            let publication = history.publication(position).unwrap();
            if let Some(expected) = self.0.get(&publication.id) {
                prop_assert!(older.records().eq(expected.records()), "{:?}", publication);
            }
            newer = Some(older);
        }
        Ok(())
    }
}
