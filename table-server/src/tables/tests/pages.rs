//! Tests of page sizes.

use table_core::{Operation, OperationKind, PartitionKey, RowKey, Transaction};

use super::*;

/// Tests that a page is not much longer than 4 MiB if its entities lack all selected properties, which are then returned as `null`.
#[tokio::test]
async fn page_11_and_sel_3_missing_properties_do_not_make_a_page_large() {
    let account = Account::emulator(Engine::in_memory()).unwrap();
    let table = TableName::new("Employee").unwrap();
    account.engine.create_table(&table).await.unwrap();
    let limits = account.engine.capabilities().limits;
    for hundred in 0..10 {
        let mut transaction = Transaction::new(PartitionKey::new("Sales").unwrap(), limits).unwrap();
        for number in 0..100 {
            let row_key = RowKey::new(format!("{:04}", hundred * 100 + number)).unwrap();
            let kind = OperationKind::Insert(table_core::row::RowWriter::new().finish());
            transaction.push(Operation { row_key, kind }).unwrap();
        }
        account.engine.submit(&table, transaction).await.unwrap();
    }
    let names: Vec<_> = (0..255).map(|number| format!("{}{number:03}", "n".repeat(237))).collect();
    let target = format!("Employee()?$select={}", names.join(","));
    let page = answer(&account, &Access::Key, &get(&target)).await.unwrap();
    let entities = page.body.matches("{\"odata.etag\"").count();
    assert!(page.body.len() < 5 << 20 && entities > 60, "{entities} entities, {} bytes", page.body.len());
    assert!(page.headers.iter().any(|(name, _)| *name == "x-ms-continuation-NextRowKey"));
    // Each missing property is returned once.
    assert_eq!(page.body.matches(&format!("\"{}\":null", names[254])).count(), entities);
}
