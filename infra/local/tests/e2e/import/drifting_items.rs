//! Lookup items that are deleted, restored or written by others: what is answered meanwhile, and
//! how they are repaired.

use aws_sdk_dynamodb::types::AttributeValue;
use ingest::{Drift, Options, Repair, verify};

use super::publishing_model::tables::empty;
use crate::support::{
    fault_proxy::{Fault, at_operation},
    imports::{allowing_older, answers, assert_no_drift, import, repair, store_with_faults},
    service::Service,
    small_reports::ReportTexts,
};

/// Items of exchanges that vanished while the dataset table was empty used to be answered for ever.
#[tokio::test]
async fn after_the_dataset_table_was_emptied_one_import_leaves_no_vanished_exchange() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    empty(&store, "dataset", "id").await;
    import(&store, &ReportTexts::second(), Options::default()).await.unwrap();
    let expected = Service::with_small_reports().await;
    import(&expected.database.store(), &ReportTexts::second(), Options::default()).await.unwrap();
    let expected = answers(&expected.restarted().await).await;
    let service = service.restarted().await;
    let served = answers(&service).await;
    assert!(served == expected);
    // 415-206 and 415-234 vanished meanwhile.
    assert_eq!(repair(&store).await.drift, Drift { stray: 2, ..Drift::default() });
    assert_no_drift(&store).await;
}

#[tokio::test]
async fn emptied_lookup_tables_are_answered_from_memory_and_filled_by_one_command() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let before = answers(&service).await;
    empty(&store, "exchanges", "npa_nxx").await;
    empty(&store, "carriers", "ocn").await;
    let service = service.restarted().await;
    assert!(answers(&service).await == before);
    let verification = repair(&store).await;
    assert!(verification.drift.missing > 200, "{verification:?}");
    assert_eq!(verification.repaired, verification.drift.missing);
    assert_no_drift(&store).await;
}

/// A write that reached the database long after its import had given up used to be believed.
#[tokio::test]
async fn a_write_that_arrives_late_is_not_believed() {
    let options = allowing_older();
    let service = Service::with_small_reports().await;
    let late = at_operation("BatchWriteItem", Fault::Repeated);
    let (store, proxy) = store_with_faults(&service, late).await;
    import(&store, &ReportTexts::second(), options).await.unwrap();
    let expected = answers(&Service::with_small_reports().await).await;
    import(&service.database.store(), &ReportTexts::first(), options).await.unwrap();
    for _ in 0..10 {
        proxy.deliver().await;
    }
    let service = service.restarted().await;
    let served = answers(&service).await;
    assert!(served == expected);
    assert!(repair(&service.database.store()).await.drift.outdated > 0, "late writes landed");
    assert_no_drift(&service.database.store()).await;
}

#[tokio::test]
async fn an_item_written_by_hand_is_found_and_repaired() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let (client, tables) = store.parts();
    let key = AttributeValue::S("415#234".to_owned());
    let update = client.update_item().table_name(&tables.exchanges).key("npa_nxx", key);
    let update = update.update_expression("SET #record.rate_center = :place");
    let update = update.expression_attribute_names("#record", "record");
    let place = AttributeValue::S("NOWHERE".to_owned());
    update.expression_attribute_values(":place", place).send().await.unwrap();

    let found = verify(&store, Repair::No, None, |_| ()).await.unwrap();
    assert_eq!(found.drift, Drift { unreadable: 1, ..Drift::default() });
    assert_eq!(repair(&store).await.repaired, 1);
    assert_no_drift(&store).await;
}
