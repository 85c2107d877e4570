//! Test scenarios for the creation and deletion of queues (QUE-2, QUE-3).

use std::time::Duration;

use table_core::queue::{MessageId, PopReceipt, PutMessage};
use table_core::{ErrorCode, QueueStore};

use super::{HIDDEN, QueueScene, fresh_name, refused, seconds};

pub async fn que_3_a_queue_is_created_once<Q: QueueStore>(store: &Q, pass: &(dyn Fn(Duration) + Sync)) {
    let scene = QueueScene::new(store, pass).await;
    scene.put("kept").await;
    assert!(!store.create_queue(&scene.queue).await.unwrap());
    assert_eq!(store.peek(&scene.queue, 1).await.unwrap().len(), 1);
    store.delete_queue(&scene.queue).await.unwrap();
}

pub async fn que_3_and_13_missing_queues_and_messages_are_not_found<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let missing = fresh_name();
    let code = ErrorCode::QueueNotFound;
    refused(&missing, store.delete_queue(&missing).await, code);
    refused(&missing, store.approximate_count(&missing).await, code);
    refused(&missing, store.put(&missing, PutMessage::new("x")).await, code);
    refused(&missing, store.receive(&missing, 1, seconds(1)).await, code);
    refused(&missing, store.peek(&missing, 1).await, code);
    refused(&missing, store.clear(&missing).await, code);

    let scene = QueueScene::new(store, pass).await;
    let lease = scene.put("x").await;
    let id = MessageId::new("00000000-0000-0000-0000-0000000000ff");
    refused(&scene.queue, store.delete(&scene.queue, &id, &lease.receipt).await, ErrorCode::MessageNotFound);
    let id = &lease.message.id;
    let receipt = PopReceipt::new("AgAAAAMAAAAAAAAAF/+abc=");
    let error = store.delete(&scene.queue, id, &receipt).await.unwrap_err();
    assert_eq!(error.code().status(), 400, "{error}"); // QUE-13; some services return InvalidQueryParameterValue
}

pub async fn que_3_an_identifier_that_no_message_has_deletes_nothing<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let scene = QueueScene::new(store, pass).await;
    let lease = scene.put("kept").await;
    for id in ["", ".", ".."] {
        let mut other = lease.clone();
        other.message.id = MessageId::new(id);
        let updated = store.update(&scene.queue, &other, seconds(1), None).await;
        refused(&scene.queue, updated, ErrorCode::MessageNotFound);
        let deleted = store.delete(&scene.queue, &other.message.id, &lease.receipt).await;
        refused(&scene.queue, deleted, ErrorCode::MessageNotFound);
    }
    assert_eq!(store.approximate_count(&scene.queue).await.unwrap(), 1);
}

pub async fn que_3_queues_do_not_share_messages<Q: QueueStore>(store: &Q, pass: &(dyn Fn(Duration) + Sync)) {
    let (one, other) = (QueueScene::new(store, pass).await, QueueScene::new(store, pass).await);
    let lease = one.put("one").await;
    assert!(other.receive(32, HIDDEN).await.is_empty());
    let gone = store.delete(&other.queue, &lease.message.id, &lease.receipt).await;
    refused(&other.queue, gone, ErrorCode::MessageNotFound);
    assert_eq!(one.receive(32, HIDDEN).await.len(), 1);
}
