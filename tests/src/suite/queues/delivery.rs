//! Test scenarios for the delivery of messages: visibility, order and leases (QUE-8, QUE-10 to QUE-14).

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use table_core::queue::PutMessage;
use table_core::{ErrorCode, QueueStore};

use super::{HIDDEN, QueueScene, refused, seconds, texts};

pub async fn que_8_a_message_put_hidden_becomes_visible_later<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let scene = QueueScene::new(store, pass).await;
    store.put(&scene.queue, PutMessage::new("much later").hidden(seconds(HIDDEN))).await.unwrap();
    assert!(scene.receive(32, HIDDEN).await.is_empty());
    assert!(store.peek(&scene.queue, 32).await.unwrap().is_empty());
    store.put(&scene.queue, PutMessage::new("soon").hidden(seconds(2))).await.unwrap();
    assert_eq!(texts(&scene.receive_when_shown(HIDDEN).await), ["soon"]);
}

pub async fn que_10_a_received_message_is_hidden_and_becomes_visible_again<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let scene = QueueScene::new(store, pass).await;
    scene.put("x").await;
    for (count, hidden) in [(1, 2), (2, 1), (3, HIDDEN)] {
        let taken = scene.receive_when_shown(hidden).await;
        assert_eq!((texts(&taken), taken[0].message.dequeue_count), (vec!["x"], count));
    }
    assert!(scene.receive(32, HIDDEN).await.is_empty());
    assert!(store.peek(&scene.queue, 32).await.unwrap().is_empty());
}

pub async fn que_11_a_receipt_stays_valid_until_the_next_receive<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let scene = QueueScene::new(store, pass).await;
    scene.put("late").await;
    let taken = scene.receive(1, 1).await;
    scene.wait_until_shown(&["late"]).await;
    scene.delete(&taken[0]).await.unwrap();

    scene.put("taken over").await;
    let first = scene.receive(1, 1).await;
    let second = scene.receive_when_shown(HIDDEN).await;
    refused(&scene.queue, scene.delete(&first[0]).await, ErrorCode::PopReceiptMismatch);
    let late = store.update(&scene.queue, &first[0], seconds(30), None).await;
    refused(&scene.queue, late, ErrorCode::PopReceiptMismatch);
    scene.delete(&second[0]).await.unwrap();
}

pub async fn que_11_the_receipt_of_a_put_deletes<Q: QueueStore>(store: &Q, pass: &(dyn Fn(Duration) + Sync)) {
    let scene = QueueScene::new(store, pass).await;
    let lease = scene.put("x").await;
    scene.delete(&lease).await.unwrap();
    assert!(scene.receive(32, HIDDEN).await.is_empty());
}

pub async fn que_12_an_update_gives_a_new_receipt_text_and_time<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let scene = QueueScene::new(store, pass).await;
    let put = scene.put("step 1").await;
    let first = scene.receive(1, HIDDEN).await;
    let second = store.update(&scene.queue, &first[0], seconds(HIDDEN), Some("step 2".into())).await.unwrap();
    refused(&scene.queue, scene.delete(&first[0]).await, ErrorCode::PopReceiptMismatch);
    let third = store.update(&scene.queue, &second, Duration::ZERO, None).await.unwrap();
    assert_ne!((&first[0].receipt, &second.receipt), (&second.receipt, &third.receipt));
    let taken = scene.receive_when_shown(HIDDEN).await;
    assert_eq!(texts(&taken), ["step 2"]);
    let message = &taken[0].message;
    // An update changes neither the dequeue count nor the expiry time.
    assert_eq!((message.dequeue_count, &message.id), (2, &put.message.id));
    assert_eq!(message.expires, first[0].message.expires);
    scene.delete(&taken[0]).await.unwrap();
}

pub async fn que_13_a_deleted_message_is_not_found<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let scene = QueueScene::new(store, pass).await;
    scene.put("x").await;
    let taken = scene.receive(1, 1).await;
    scene.delete(&taken[0]).await.unwrap();
    refused(&scene.queue, scene.delete(&taken[0]).await, ErrorCode::MessageNotFound);
    let update = store.update(&scene.queue, &taken[0], seconds(1), None).await;
    refused(&scene.queue, update, ErrorCode::MessageNotFound);
    pass(seconds(2));
    assert!(scene.receive(32, 1).await.is_empty());
}

pub async fn que_14_delivery_is_roughly_in_the_order_of_puts<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let scene = QueueScene::new(store, pass).await;
    let put: Vec<String> = (0..40).map(|n| format!("{n:02}")).collect();
    for text in &put {
        scene.put(text).await;
    }
    let mut taken = Vec::new();
    while taken.len() < put.len() {
        let more = scene.receive(7, HIDDEN).await;
        assert!(!more.is_empty(), "a message was lost after {}", taken.len());
        taken.extend(more.into_iter().map(|lease| lease.message.text));
    }
    // The order is unspecified, but each message must be delivered exactly once while it is hidden.
    taken.sort();
    assert_eq!(taken, put);
}

pub async fn que_14_concurrent_receivers_share_no_message<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let scene = QueueScene::new(store, pass).await;
    for n in 0..20 {
        scene.put(&n.to_string()).await;
    }
    let taken = join_all((0..10).map(|_| scene.receive(3, HIDDEN))).await;
    let ids: Vec<_> = taken.iter().flatten().map(|lease| lease.message.id.clone()).collect();
    assert_eq!((ids.len(), ids.iter().collect::<BTreeSet<_>>().len()), (20, 20));
}
