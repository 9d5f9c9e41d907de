//! Drift: lookup items that differ from the current version are counted and repaired.

use aws_sdk_dynamodb::types::AttributeValue;
use ingest::{Drift, Options, Repair, RollbackTarget, rollback, verify};

use crate::support::{
    imports::{assert_no_drift, import, repair},
    service::Service,
    small_reports::ReportTexts,
};

#[tokio::test]
async fn drift_after_a_rollback_is_counted_by_kind_and_repaired() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let options = Options::default();
    let imported = import(&store, &ReportTexts::second(), options).await.unwrap();
    rollback(&store, &RollbackTarget::NewestReadable, options, |_| ()).await.unwrap();
    // 415-206 and 415-234 are missing, and only the other version has 415-207.
    let outdated = imported.items.written - 1;
    let drift = Drift { outdated, missing: 2, stray: 1, ..Drift::default() };
    let found = verify(&store, Repair::No, None, |_| ()).await.unwrap();
    assert_eq!((found.drift, found.repaired), (drift, 0));
    let repaired = repair(&store).await;
    assert_eq!((repaired.drift, repaired.repaired), (drift, drift.total()));
    assert_no_drift(&store).await;
}

#[tokio::test]
async fn items_edited_by_hand_are_found_and_repaired() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let (client, tables) = store.parts();
    let key = AttributeValue::S("415#234".to_owned());
    let update = client.update_item().table_name(&tables.exchanges).key("npa_nxx", key);
    let update = update.update_expression("SET #record.rate_center = :place");
    let update = update.expression_attribute_names("#record", "record");
    let place = AttributeValue::S("NOWHERE".to_owned());
    update.expression_attribute_values(":place", place).send().await.unwrap();

    let found = repair(&store).await;
    assert_eq!((found.drift, found.repaired), (Drift { unreadable: 1, ..Drift::default() }, 1));
    assert_no_drift(&store).await;
}
