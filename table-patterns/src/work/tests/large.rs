//! Tests work that becomes poison with errors of any text, and messages of other programs with any text and length.

use proptest::prelude::*;

use super::*;

/// A handler that fails with the given error. If the error is `None`, it succeeds.
struct Refusing(Arc<std::sync::Mutex<Option<String>>>);

impl Handler<Mail> for Refusing {
    async fn handle(&self, _: &Mail, _: work::Delivery<'_>) -> Result<()> {
        match &*self.0.lock().unwrap() {
            Some(error) => Err(work::failure(error.clone())),
            None => Ok(()),
        }
    }
}

/// Generates strings in which one character is repeated fewer than `most` times. Most of these characters must be escaped.
fn text(most: usize) -> impl Strategy<Value = String> {
    let letter = prop_oneof![Just('"'), Just('\\'), Just('\u{1}'), Just('\u{FFFE}'), Just('é'), Just('a')];
    (letter, 0..most).prop_map(|(letter, count)| letter.to_string().repeat(count))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pat_ec_4_every_enqueued_intent_can_be_set_aside_and_requeued(text in text(45_000), error in text(2_000)) {
        let (outbox, engine, time) = outbox();
        let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
        block_on(engine.create_table(&table)).unwrap();
        let intent = Intent::of(RowKey::new("1").unwrap()).step(Step::call(&Mail(text)).unwrap());
        block_on(outbox.enqueue(&table, &sales, &intent)).unwrap();
        let refused = Arc::new(std::sync::Mutex::new(Some(format!("no {error}"))));
        let worker = Worker::new(outbox.clone()).handler(Refusing(Arc::clone(&refused)));
        for _ in 0..8 {
            block_on(worker.run_until_idle()).unwrap();
            time.fetch_add(20 * 600_000_000, Ordering::SeqCst);
        }
        let backlog = block_on(outbox.backlog()).unwrap();
        prop_assert_eq!((backlog.waiting, backlog.poison, worker.metrics().failures), (0, 1, 5));
        let entry = block_on(outbox.poison(1)).unwrap().remove(0);
        prop_assert_eq!((entry.attempts, entry.error.unwrap().contains("no ")), (5, true));
        *refused.lock().unwrap() = None;
        block_on(outbox.requeue_poison()).unwrap();
        block_on(worker.run_until_idle()).unwrap();
        let backlog = block_on(outbox.backlog()).unwrap();
        prop_assert_eq!((backlog.waiting, backlog.poison, worker.metrics().done), (0, 0, 1));
    }
}

#[test]
fn pat_ec_4_a_foreign_message_of_any_text_and_length_is_set_aside() {
    let of = |front: &str, letter: &str, end: &str| {
        let count = (65_536 - front.len() - end.len()) / letter.len();
        [front, &letter.repeat(count), end].concat()
    };
    let texts = [
        of("", "\"", ""),
        of("", "\\", ""),
        of("", "\t", ""),
        of("", "x", ""),
        of("[", "[0],", "0]"),
        of("\"", "x", "\""),
        of("{\"Version\":1,\"PartitionKey\":\"p\",\"Table\":\"", "x", "\"}"),
        of("{\"PartitionKey\":\"p\",\"Table\":\"Company\",\"Version\":\"", "\\\"", "\"}"),
    ];
    for text in texts {
        let (outbox, engine, time) = outbox();
        block_on(engine.put(outbox.queue(), PutMessage::new(text.as_str()))).unwrap();
        let worker = Worker::new(outbox.clone());
        for _ in 0..3 {
            block_on(worker.run_until_idle()).unwrap();
            time.fetch_add(20 * 600_000_000, Ordering::SeqCst);
        }
        let backlog = block_on(outbox.backlog()).unwrap();
        assert_eq!((backlog.waiting, backlog.poison), (0, 1), "{}", &text[..30]);
        assert!(block_on(outbox.poison(1)).unwrap()[0].error.is_some(), "{}", &text[..30]);
        assert!(block_on(outbox.discard_poison()).unwrap().is_some());
        assert_eq!(block_on(outbox.backlog()).unwrap().poison, 0);
    }
}

#[test]
fn pat_ec_4_requeueing_and_discarding_in_bulk_end_despite_entries_that_return() {
    let (outbox, engine, time) = outbox();
    let poison = outbox.queue().poison().unwrap();
    for number in 0..70 {
        block_on(engine.put(&poison, PutMessage::new(number.to_string()))).unwrap();
    }
    let asked = AtomicU64::new(0);
    // Entries that remain in the queue become visible again during the call.
    let late = |chosen: bool| {
        assert!(asked.fetch_add(1, Ordering::SeqCst) < 1_000, "the call does not end");
        time.fetch_add(31 * 10_000_000, Ordering::SeqCst);
        chosen
    };
    assert_eq!(block_on(outbox.discard_poison_if(|_| late(false))).unwrap(), 0);
    assert_eq!(asked.swap(0, Ordering::SeqCst), 70, "each entry is examined once");
    time.fetch_add(61 * 10_000_000, Ordering::SeqCst);
    assert_eq!(block_on(outbox.requeue_poison_if(|entry| late(entry.work == "7"))).unwrap(), 1);
    assert_eq!(asked.swap(0, Ordering::SeqCst), 70);
    time.fetch_add(61 * 10_000_000, Ordering::SeqCst);
    // A worker immediately moves the requeued messages back to the poison queue.
    let worker = Worker::new(outbox.clone());
    let again = |_: &work::PoisonEntry| {
        block_on(worker.run_until_idle()).unwrap();
        late(true)
    };
    assert_eq!(block_on(outbox.requeue_poison_if(again)).unwrap(), 70);
}
