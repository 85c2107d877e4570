//! Tests that a queue is consistent after the engine has stopped at any step.

use super::{
    Arc, AtomicU64, Duration, Engine, Ordering, PutMessage, QueueStore, TimeToLive, block_on, clocked, pass,
    work,
};
use crate::failpoint::{Action, Hook, Step};

/// Runs the operations in the order in which [`con_1_a_stop_at_any_step_leaves_a_queue_before_or_after_each_verb`] lists their results. Returns the number of
/// operations that were acknowledged.
fn scene(engine: &Engine) -> usize {
    let second = Duration::from_secs(1);
    let put =
        |text: &str| block_on(engine.put(&work(), PutMessage::new(text).time_to_live(TimeToLive::Never)));
    let take = || Ok::<_, table_store::Error>(block_on(engine.receive(&work(), 2, second))?.remove(0));
    let verbs: [&dyn Fn() -> table_store::Result<()>; 9] = [
        &|| block_on(engine.create_queue(&work())).map(|_| ()),
        &|| put("a").map(|_| ()),
        &|| put("b").map(|_| ()),
        &|| take().map(|_| ()),
        &|| block_on(engine.checkpoint()),
        &|| {
            let lease = put("c")?;
            block_on(engine.update(&work(), &lease, second, Some("c, updated".into()))).map(|_| ())
        },
        &|| {
            let lease = put("d")?;
            block_on(engine.delete(&work(), &lease.message.id, &lease.receipt))
        },
        &|| block_on(engine.clear(&work())),
        &|| put("e").map(|_| ()),
    ];
    verbs.iter().take_while(|verb| verb().is_ok()).count()
}

/// Returns the messages in a queue, each with its dequeue count before this call.
fn holds(engine: &Engine, time: &AtomicU64) -> Option<Vec<(String, u32)>> {
    pass(time, 10);
    let leases = block_on(engine.receive(&work(), 32, Duration::from_secs(1))).ok()?;
    let messages = leases.into_iter().map(|lease| (lease.message.text, lease.message.dequeue_count - 1));
    let mut messages: Vec<_> = messages.collect();
    messages.sort();
    Some(messages)
}

#[test]
fn con_1_a_stop_at_any_step_leaves_a_queue_before_or_after_each_verb() {
    let message = |text: &str, count| (text.to_owned(), count);
    let (a, b, a1, b1) = (message("a", 0), message("b", 0), message("a", 1), message("b", 1));
    let (c, updated, d) = (message("c", 0), message("c, updated", 0), message("d", 0));
    // The permitted states after n acknowledged operations. Each state includes all effects of these operations. It may also include effects of the next
    // operation.
    let four = vec![a1.clone(), b1.clone()];
    let five = [four.clone(), vec![c]].concat();
    let six = [four.clone(), vec![updated]].concat();
    let states: [&[Option<Vec<_>>]; 10] = [
        &[None, Some(vec![])],
        &[Some(vec![]), Some(vec![a.clone()])],
        &[Some(vec![a.clone()]), Some(vec![a.clone(), b.clone()])],
        &[Some(vec![a, b]), Some(four.clone())],
        &[Some(four.clone())],
        &[Some(four), Some(five), Some(six.clone())],
        &[Some(six.clone()), Some([six.clone(), vec![d]].concat())],
        &[Some(six), Some(vec![])],
        &[Some(vec![]), Some(vec![message("e", 0)])],
        &[Some(vec![message("e", 0)])],
    ];
    let mut stops = 0;
    for step in Step::ALL {
        for nth in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let (options, time) = clocked();
            let left = Arc::new(AtomicU64::new(nth));
            let countdown = Arc::clone(&left);
            let hook = Hook::new(move |reached| {
                let is_due = reached == step && countdown.fetch_sub(1, Ordering::SeqCst) == 0;
                if is_due { Action::Fail } else { Action::Continue }
            });
            let Ok(engine) = options.clone().failpoints(hook).open(folder.path()) else { continue };
            let acknowledged = scene(&engine);
            drop(engine);
            let stopped = left.load(Ordering::SeqCst) > nth;
            let engine = options.open(folder.path()).unwrap();
            let found = holds(&engine, &time);
            assert!(
                states[acknowledged].contains(&found),
                "stop at {step:?} {nth}: {acknowledged} verbs acknowledged, found {found:?}"
            );
            if !stopped {
                break;
            }
            stops += 1;
        }
    }
    assert!(stops > 30, "{stops}");
}
