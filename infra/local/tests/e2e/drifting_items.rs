//! Lookup tables emptied, restored and written by other hands: what is answered, and how it is
//! mended.

use aws_sdk_dynamodb::types::AttributeValue;
use ingest::{Drift, Options, Repair, verify};
use store::{Store, TimeoutProfile};

use crate::{
    fault_proxy::{Fault, FaultProxy},
    interrupted_imports::{answers, assert_no_drift, import, repaired, with_first},
    small_set::Texts,
};

async fn empty(store: &Store, table: &str, key: &str) {
    let (client, _) = store.parts();
    let items = client.scan().table_name(table).send().await.unwrap().items.unwrap();
    for item in items {
        let delete = client.delete_item().table_name(table).key(key, item[key].clone());
        delete.send().await.unwrap();
    }
}

/// Items of codes that vanished meanwhile used to answer for good.
#[tokio::test]
async fn an_emptied_dataset_table_and_one_import_leave_no_ghosts() {
    let service = with_first().await;
    let store = service.database.store();
    empty(&store, "dataset", "id").await;
    import(&store, &Texts::second(), Options::default()).await.unwrap();
    let expected = with_first().await;
    import(&expected.database.store(), &Texts::second(), Options::default()).await.unwrap();
    let expected = answers(&expected.restarted().await).await;
    let service = service.restarted().await;
    let served = answers(&service).await;
    assert!(served == expected);
    // 415-206 and 415-234 vanished meanwhile.
    assert_eq!(repaired(&store).await.drift, Drift { stray: 2, ..Drift::default() });
    assert_no_drift(&store).await;
}

#[tokio::test]
async fn emptied_lookup_tables_are_answered_from_memory_and_filled_by_one_command() {
    let service = with_first().await;
    let store = service.database.store();
    let before = answers(&service).await;
    empty(&store, "exchanges", "npa_nxx").await;
    empty(&store, "carriers", "ocn").await;
    let service = service.restarted().await;
    assert!(answers(&service).await == before);
    let verification = repaired(&store).await;
    assert!(verification.drift.missing > 200, "{verification:?}");
    assert_eq!(verification.repaired, verification.drift.missing);
    assert_no_drift(&store).await;
}

/// A write that the network delivers long after its import was given up used to be believed.
#[tokio::test]
async fn a_write_that_is_delivered_late_is_not_believed() {
    let options = Options { allow_older: true, ..Options::default() };
    let service = with_first().await;
    let late = |_, operation: &str| match operation {
        "BatchWriteItem" => Fault::Repeated,
        _ => Fault::None,
    };
    let proxy = FaultProxy::before(service.database.endpoint(), late).await;
    let store = Store::at(&proxy.endpoint, TimeoutProfile::Batch).await;
    import(&store, &Texts::second(), options).await.unwrap();
    let expected = answers(&with_first().await).await;
    import(&service.database.store(), &Texts::first(), options).await.unwrap();
    for _ in 0..10 {
        proxy.deliver().await;
    }
    let service = service.restarted().await;
    let served = answers(&service).await;
    assert!(served == expected);
    assert!(repaired(&service.database.store()).await.drift.outdated > 0, "late writes landed");
    assert_no_drift(&service.database.store()).await;
}

/// An item somebody wrote by hand.
#[tokio::test]
async fn an_item_that_contradicts_its_version_is_found_and_repaired() {
    let service = with_first().await;
    let store = service.database.store();
    let (client, tables) = store.parts();
    let key = AttributeValue::S("415#234".to_owned());
    let update = client.update_item().table_name(&tables.exchanges).key("npa_nxx", key);
    let update = update.update_expression("SET #record.rate_center = :place");
    let update = update.expression_attribute_names("#record", "record");
    let place = AttributeValue::S("NOWHERE".to_owned());
    update.expression_attribute_values(":place", place).send().await.unwrap();

    let found = verify(&store, Repair::No, None, |_| ()).await.unwrap();
    assert_eq!(found.drift, Drift { contradicting: 1, ..Drift::default() });
    assert_eq!(repaired(&store).await.repaired, 1);
    assert_no_drift(&store).await;
}
