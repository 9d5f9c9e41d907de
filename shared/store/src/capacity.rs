//! Counts the capacity units that DynamoDB charges for the reads of one request.

use std::cell::Cell;

use aws_sdk_dynamodb::types::ConsumedCapacity;

tokio::task_local! {
    static UNITS: Cell<f64>;
}

/// Runs `request`. Returns its outcome, and the capacity units that its reads consumed.
pub async fn metered<T>(request: impl Future<Output = T>) -> (T, f64) {
    let counted = async {
        let outcome = request.await;
        (outcome, UNITS.with(Cell::get))
    };
    UNITS.scope(Cell::default(), counted).await
}

/// Adds the capacity units of a read to the request that is being metered, if there is one.
pub(crate) fn count(consumed: Option<&ConsumedCapacity>) {
    let units = consumed.and_then(ConsumedCapacity::capacity_units).unwrap_or_default();
    _ = UNITS.try_with(|total| total.set(total.get() + units));
}
