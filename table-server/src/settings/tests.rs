//! Tests of account settings.

use table_core::QueueStore;

use super::*;

#[tokio::test]
async fn settings_survive_a_restart_and_are_deleted_with_their_queue() {
    let engine = Engine::in_memory();
    let [work, gone] = ["work", "gone"].map(|name| QueueName::new(name).unwrap());
    let settings = Settings::new(&engine);
    settings.load().await.unwrap();
    for queue in [&work, &gone] {
        engine.create_queue(queue).await.unwrap();
        settings.set(Kind::QueueMetadata, queue.as_str(), Some("first".into())).await.unwrap();
        settings.set(Kind::QueueMetadata, queue.as_str(), Some("second".into())).await.unwrap();
    }
    settings.set(Kind::Properties, "tables", Some("all".into())).await.unwrap();
    settings.set(Kind::QueuePolicies, "work", Some("readers".into())).await.unwrap();
    settings.set(Kind::QueuePolicies, "work", None).await.unwrap();
    // This is the state after a crash between deleting a queue and deleting its settings.
    engine.delete_queue(&gone).await.unwrap();

    for _ in 0..2 {
        let next = Settings::new(&engine);
        next.load().await.unwrap();
        let text = |kind, name| next.get(kind, name).map(|text: Arc<str>| text.to_string());
        assert_eq!(text(Kind::QueueMetadata, "work").as_deref(), Some("second"));
        assert_eq!(text(Kind::Properties, "tables").as_deref(), Some("all"));
        assert_eq!((text(Kind::QueuePolicies, "work"), text(Kind::QueueMetadata, "gone")), (None, None));
    }
    assert!(engine.list_tables("", None, 10).await.unwrap().names.is_empty());
}

/// Tests a table or queue that the embedding program deletes while a request stores a setting for it. The setting must not belong to the next table or queue
/// with its name.
#[tokio::test]
async fn acl_4_a_setting_that_is_stored_after_the_deletion_belongs_to_no_table_or_queue() {
    let table = TableName::new("Employee").unwrap();
    let queue = QueueName::new("work").unwrap();
    for kind in [Kind::TablePolicies, Kind::QueuePolicies, Kind::QueueMetadata] {
        for is_restarted in [false, true] {
            let engine = Engine::in_memory();
            let name = if kind == Kind::TablePolicies { table.folded() } else { queue.as_str() };
            let mut settings = Settings::new(&engine);
            engine.create_table(&table).await.unwrap();
            engine.create_queue(&queue).await.unwrap();
            settings.set(kind, name, Some("first".into())).await.unwrap();
            engine.delete_table(&table).await.unwrap();
            engine.delete_queue(&queue).await.unwrap();
            settings.set(kind, name, Some("second".into())).await.unwrap();
            assert_eq!(settings.get(kind, name), None);
            engine.create_table(&table).await.unwrap();
            engine.create_queue(&queue).await.unwrap();
            if is_restarted {
                settings = Settings::new(&engine);
                settings.load().await.unwrap();
            }
            assert_eq!(settings.get(kind, name), None, "{kind:?}, restarted: {is_restarted}");
        }
    }
}

/// Tests settings of earlier releases, which did not store an owner. Such a setting is assigned its owner when a server first starts, and not again at the next
/// start.
#[tokio::test]
async fn acl_4_a_setting_of_an_earlier_release_belongs_to_the_table_or_queue_of_the_first_start() {
    let table = TableName::new("Employee").unwrap();
    let queue = QueueName::new("work").unwrap();
    for kind in [Kind::TablePolicies, Kind::QueuePolicies, Kind::QueueMetadata] {
        let engine = Engine::in_memory();
        let name = if kind == Kind::TablePolicies { table.folded() } else { queue.as_str() };
        engine.create_table(&table).await.unwrap();
        engine.create_queue(&queue).await.unwrap();
        let earlier = Setting { text: "text".into(), owner: None };
        Settings::new(&engine).write(kind, name, Some(earlier)).await.unwrap();
        let started = async || {
            let settings = Settings::new(&engine);
            settings.load().await.unwrap();
            settings.get(kind, name)
        };
        for _ in 0..2 {
            assert_eq!(started().await.as_deref(), Some("text"), "{kind:?}");
        }
        engine.delete_table(&table).await.unwrap();
        engine.create_table(&table).await.unwrap();
        engine.delete_queue(&queue).await.unwrap();
        engine.create_queue(&queue).await.unwrap();
        for _ in 0..2 {
            assert_eq!(started().await, None, "{kind:?}");
        }
    }
}
