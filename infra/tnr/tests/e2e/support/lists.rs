//! Lists read page by page.

use std::collections::BTreeSet;

use serde_json::Value;

use super::service::Service;

/// Reads a list in pages of `limit` records and returns all records. Every page must have the same total.
pub async fn all_records(service: &Service, path: &str, field: &str, limit: usize) -> Vec<Value> {
    let (mut records, mut offset, mut total) = (Vec::new(), 0, None);
    let separator = if path.contains('?') { '&' } else { '?' };
    loop {
        let body = service.ok(&format!("{path}{separator}limit={limit}&offset={offset}")).await;
        assert_eq!(body["pagination"]["limit"], limit);
        assert_eq!(body["pagination"]["offset"], offset);
        let page_total = body["pagination"]["total"].as_u64().unwrap() as usize;
        assert_eq!(*total.get_or_insert(page_total), page_total, "{path} at {offset}");
        records.extend(body[field].as_array().unwrap().iter().cloned());
        offset += limit;
        if offset >= page_total {
            assert_eq!(records.len(), page_total, "{path} by {limit}");
            return records;
        }
    }
}

/// Asserts that pages of 1, 7, 50 and 100 records yield every record once, in the same order.
pub async fn assert_page_sizes_agree(service: &Service, path: &str, field: &str) {
    let expected = all_records(service, path, field, 100).await;
    let distinct: BTreeSet<String> = expected.iter().map(Value::to_string).collect();
    assert_eq!(distinct.len(), expected.len(), "{path}");
    for limit in [1, 7, 50] {
        assert_eq!(all_records(service, path, field, limit).await, expected, "{path} by {limit}");
    }
}
