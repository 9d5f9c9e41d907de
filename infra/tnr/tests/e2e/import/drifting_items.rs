//! Drift: lookup items that differ from the current version are counted and repaired.

use aws_sdk_dynamodb::types::AttributeValue;
use ingest::{Drift, Options, Repair, RollbackTarget, rollback, verify};

use crate::support::{
    imports::{assert_no_drift, import},
    service::Service,
    small_reports::ReportSet,
};

#[tokio::test]
async fn drift_is_counted_by_kind_and_repaired() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let options = Options::default();
    let imported = import(&store, &ReportSet::second(), options).await.unwrap();
    rollback(&store, &RollbackTarget::NewestReadable, options, |_| ()).await.unwrap();
    let (client, tables) = store.parts();
    let key = AttributeValue::S("415#238".to_owned());
    let edit = client.update_item().table_name(&tables.exchanges).key("npa_nxx", key);
    let edit = edit.update_expression("SET #record.rate_center = :place");
    let edit = edit.expression_attribute_names("#record", "record");
    let place = AttributeValue::S("NOWHERE".to_owned());
    edit.expression_attribute_values(":place", place).send().await.unwrap();

    // 415-206 and 415-234 are missing, only the other version has 415-207, and 415-238 was edited by hand.
    let outdated = imported.items.written - 1;
    let drift = Drift { outdated, missing: 2, stray: 1, unreadable: 1, ..Drift::default() };
    for (repair, repaired) in [(Repair::No, 0), (Repair::Yes, drift.total())] {
        let found = verify(&store, repair, None, |_| ()).await.unwrap();
        assert_eq!((found.drift, found.repaired), (drift, repaired));
    }
    assert_no_drift(&store).await;
}
