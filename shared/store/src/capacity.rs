//! Counts what the reads of one request cost, and those that failed.

use std::cell::Cell;

use aws_sdk_dynamodb::types::ConsumedCapacity;

use crate::waiting;

/// What the calls to DynamoDB of one request amount to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Consumption {
    /// The capacity units that DynamoDB counted for the reads.
    pub capacity_units: f64,
    /// The reads that failed, or took longer than a request waits.
    pub failed_calls: u32,
}

tokio::task_local! {
    static CONSUMPTION: Cell<Consumption>;
}

/// Runs `request`. Returns its outcome, and what its calls to DynamoDB amount to. Its waits for DynamoDB
/// are counted together.
pub async fn metered<T>(request: impl Future<Output = T>) -> (T, Consumption) {
    let counted = async {
        let outcome = waiting::scope(request).await;
        (outcome, CONSUMPTION.with(Cell::get))
    };
    CONSUMPTION.scope(Cell::default(), counted).await
}

/// Adds the capacity units of a read to the request that is being metered, if there is one.
pub(crate) fn count(consumed: Option<&ConsumedCapacity>) {
    let units = consumed.and_then(ConsumedCapacity::capacity_units).unwrap_or_default();
    add(|total| total.capacity_units += units);
}

/// Adds a failed call to the request that is being metered, if there is one.
pub(crate) fn count_failed_call() {
    add(|total| total.failed_calls += 1);
}

fn add(change: impl FnOnce(&mut Consumption)) {
    _ = CONSUMPTION.try_with(|consumption| {
        let mut total = consumption.get();
        change(&mut total);
        consumption.set(total);
    });
}
