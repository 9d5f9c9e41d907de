//! Thousands blocks and their holders.

use numbering::records::{BlockHolder, Exchange};
use serde_json::{Value, json};

/// A row for each assigned thousands block.
pub(super) fn blocks(exchange: &Exchange) -> Vec<Value> {
    let blocks = exchange.blocks.iter().map(|(digit, holder)| {
        let mut row = block_holder(exchange, holder);
        (row["npa"], row["nxx"], row["block"]) =
            (json!(exchange.npa), json!(exchange.nxx), (*digit).into());
        row
    });
    blocks.collect()
}

/// A block's holder. The exchange's rate center is the fallback.
pub(super) fn block_holder(exchange: &Exchange, holder: &BlockHolder) -> Value {
    let mut row = json!(holder);
    if holder.rate_center.is_none() {
        row["rate_center"] = json!(exchange.rate_center);
    }
    row
}
