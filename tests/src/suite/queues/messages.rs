//! Test scenarios for messages: their text, their lifetime, and the number received per call (QUE-5 to QUE-10).

use std::time::Duration;

use table_core::queue::{PutMessage, TimeToLive};
use table_core::{ErrorCode, QueueStore};

use super::{HIDDEN, QueueScene, refused, seconds, texts};

const RANGE: ErrorCode = ErrorCode::OutOfRangeQueryParameterValue;

pub async fn que_5_a_message_is_received_as_it_was_put<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let scene = QueueScene::new(store, pass).await;
    for text in ["plain", "<a href=\"x\">&amp;'</a>", "é\u{1F600}", "{\"n\":1}"] {
        let put = scene.put(text).await;
        let taken = scene.receive(1, HIDDEN).await;
        assert_eq!(texts(&taken), [text]);
        let message = &taken[0].message;
        assert_eq!((&message.id, message.dequeue_count), (&put.message.id, 1));
        // The lifetime is seven days, except for rounding by the backend (QUE-7).
        let life = message.expires.unwrap() - message.inserted;
        assert!((life.num_seconds() - 604_800).abs() <= 1, "{life}");
        scene.delete(&taken[0]).await.unwrap();
    }
    assert!(scene.receive(1, HIDDEN).await.is_empty());
}

/// Tests that a store accepts only the characters of XML 1.0, the format in which the service sends messages. Otherwise, the client of a server would receive a
/// different text.
pub async fn que_4_a_text_that_xml_cannot_represent_is_refused<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let scene = QueueScene::new(store, pass).await;
    let lease = scene.put("legal \t\n\r\u{7f}\u{85}\u{d7ff}\u{e000}\u{fffd}\u{10ffff}").await;
    for illegal in ['\0', '\u{1}', '\u{8}', '\u{b}', '\u{c}', '\u{e}', '\u{1f}', '\u{fffe}', '\u{ffff}'] {
        let text = format!("a{illegal}b");
        let put = store.put(&scene.queue, PutMessage::new(text.as_str())).await;
        let updated = store.update(&scene.queue, &lease, seconds(1), Some(text)).await;
        for outcome in [put, updated] {
            assert_eq!(
                refused(&scene.queue, outcome, ErrorCode::InvalidInput).rule(),
                Some("QUE-4"),
                "{illegal:?}"
            );
        }
    }
    let left = store.peek(&scene.queue, 32).await.unwrap();
    assert_eq!((left.len(), &left[0].text), (1, &lease.message.text));
}

pub async fn que_6_a_text_has_at_most_64_kib_of_utf8<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let scene = QueueScene::new(store, pass).await;
    for most in ["x".repeat(65_536), "é".repeat(32_768)] {
        scene.put(&most).await;
        let taken = scene.receive(1, HIDDEN).await;
        assert_eq!(taken[0].message.text, most);
        let more = format!("{most}x");
        let code = ErrorCode::RequestBodyTooLarge;
        refused(&scene.queue, store.put(&scene.queue, PutMessage::new(more.as_str())).await, code);
        refused(&scene.queue, store.update(&scene.queue, &taken[0], seconds(1), Some(more)).await, code);
        scene.delete(&taken[0]).await.unwrap();
    }
}

pub async fn que_7_an_expired_message_is_gone<Q: QueueStore>(store: &Q, pass: &(dyn Fn(Duration) + Sync)) {
    let scene = QueueScene::new(store, pass).await;
    let short = PutMessage::new("short").time_to_live(TimeToLive::For(seconds(2)));
    let lease = store.put(&scene.queue, short).await.unwrap();
    scene.put("long").await;
    scene.wait_until_shown(&["long"]).await;
    assert_eq!(texts(&scene.receive(32, HIDDEN).await), ["long"]);
    refused(&scene.queue, scene.delete(&lease).await, ErrorCode::MessageNotFound);
}

pub async fn que_7_a_message_without_an_expiry_stays<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let scene = QueueScene::new(store, pass).await;
    let message = PutMessage::new("for ever").time_to_live(TimeToLive::Never);
    store.put(&scene.queue, message).await.unwrap();
    let taken = scene.receive(1, 1).await;
    assert_eq!((texts(&taken), taken[0].message.expires), (vec!["for ever"], None));
}

pub async fn que_8_times_out_of_range_are_refused<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let scene = QueueScene::new(store, pass).await;
    let most = seconds(604_800);
    let put = |message: PutMessage| store.put(&scene.queue, message);
    let long = TimeToLive::Never;
    put(PutMessage::new("x").time_to_live(long).hidden(most)).await.unwrap();
    refused(
        &scene.queue,
        put(PutMessage::new("x").time_to_live(long).hidden(most + seconds(1))).await,
        RANGE,
    );
    refused(
        &scene.queue,
        put(PutMessage::new("x").time_to_live(TimeToLive::For(Duration::ZERO))).await,
        RANGE,
    );
    let dead_at_once = PutMessage::new("x").time_to_live(TimeToLive::For(seconds(5))).hidden(seconds(5));
    refused(&scene.queue, put(dead_at_once).await, ErrorCode::InvalidQueryParameterValue);
    refused(&scene.queue, store.receive(&scene.queue, 1, Duration::ZERO).await, RANGE);
    refused(&scene.queue, store.receive(&scene.queue, 1, most + seconds(1)).await, RANGE);
    let lease = scene.put("x").await;
    refused(&scene.queue, store.update(&scene.queue, &lease, most + seconds(1), None).await, RANGE);
    store.update(&scene.queue, &lease, most, None).await.unwrap();
}

pub async fn que_9_a_batch_has_1_to_32_messages<Q: QueueStore>(store: &Q, pass: &(dyn Fn(Duration) + Sync)) {
    let scene = QueueScene::new(store, pass).await;
    for n in 0..33 {
        scene.put(&n.to_string()).await;
    }
    for count in [0, 33] {
        refused(&scene.queue, store.receive(&scene.queue, count, seconds(1)).await, RANGE);
        refused(&scene.queue, store.peek(&scene.queue, count).await, RANGE);
    }
    assert_eq!(store.peek(&scene.queue, 32).await.unwrap().len(), 32);
    assert_eq!(scene.receive(32, HIDDEN).await.len(), 32);
    assert_eq!(scene.receive(32, HIDDEN).await.len(), 1);
    assert_eq!(store.approximate_count(&scene.queue).await.unwrap(), 33);
}

pub async fn que_10_peek_changes_nothing<Q: QueueStore>(store: &Q, pass: &(dyn Fn(Duration) + Sync)) {
    let scene = QueueScene::new(store, pass).await;
    scene.put("x").await;
    for _ in 0..2 {
        let seen = store.peek(&scene.queue, 32).await.unwrap();
        assert_eq!((seen.len(), seen[0].dequeue_count, seen[0].text.as_str()), (1, 0, "x"));
    }
    assert_eq!(scene.receive(1, HIDDEN).await[0].message.dequeue_count, 1);
    assert!(store.peek(&scene.queue, 32).await.unwrap().is_empty());
}

pub async fn que_3_clear_deletes_hidden_messages_too<Q: QueueStore>(
    store: &Q,
    pass: &(dyn Fn(Duration) + Sync),
) {
    let scene = QueueScene::new(store, pass).await;
    scene.put("taken").await;
    let taken = scene.receive(1, HIDDEN).await;
    scene.put("waiting").await;
    store.clear(&scene.queue).await.unwrap();
    assert_eq!(store.approximate_count(&scene.queue).await.unwrap(), 0);
    refused(&scene.queue, scene.delete(&taken[0]).await, ErrorCode::MessageNotFound);
    scene.put("later").await;
    assert_eq!(texts(&scene.receive(32, HIDDEN).await), ["later"]);
}
