//! Tests the members of a group. One member drives the commit, some are cancelled or never polled again, and members that time out seal the group.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_channel::oneshot;

use super::super::group::{CommitGroup, GroupOutcome};
use super::*;

/// A task that counts its wake-ups. It is polled only after a wake-up.
#[derive(Default)]
struct Task {
    wakes: AtomicUsize,
    polled: AtomicUsize,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::Relaxed);
    }
}

impl Task {
    /// Polls a future if the task has been woken since the last poll.
    fn run(self: &Arc<Self>, future: &mut BoxFuture<'_, GroupOutcome>) -> bool {
        let wakes = self.wakes.load(Ordering::Relaxed);
        if self.polled.swap(wakes, Ordering::Relaxed) == wakes {
            return false;
        }
        future.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(self)))).is_ready()
    }
}

/// A group whose commit takes several steps. The test triggers the group's alarm.
struct Slow {
    group: Arc<Group>,
    steps: Vec<oneshot::Sender<()>>,
    alarms: Arc<Mutex<Vec<oneshot::Sender<()>>>>,
}

impl Slow {
    /// Opens a group with one operation.
    fn new(steps: usize, is_admitted: bool) -> Self {
        let (steps, waits): (Vec<_>, Vec<_>) = (0..steps).map(|_| oneshot::channel::<()>()).unzip();
        let commit = move |operations: Vec<Operation>, _: Vec<_>, _: Option<_>| {
            async move {
                for wait in waits {
                    wait.await.unwrap();
                }
                Ok(vec![None; operations.len()])
            }
            .boxed()
        };
        Self::with(steps, Box::new(commit), is_admitted)
    }

    /// Opens a group with one operation and the given commit. `steps` contains the senders that complete the steps of the commit.
    fn with(steps: Vec<oneshot::Sender<()>>, commit: CommitGroup, is_admitted: bool) -> Self {
        let store = Store::new();
        let alarms = Arc::<Mutex<Vec<oneshot::Sender<()>>>>::default();
        let set = Arc::clone(&alarms);
        let runtime = Runtime::new().sleep_by(move |_| {
            let (sender, receiver) = oneshot::channel();
            set.lock().unwrap().push(sender);
            Box::pin(async move { receiver.await.unwrap_or_default() })
        });
        let limits = store.engine.capabilities().limits;
        let group = Group::new(store.partition_key, limits, timer(&runtime), commit);
        let insert = Operation { row_key: row_key(0), kind: OperationKind::Insert(row(0, 0)) };
        group.join(&[insert], None, admission(is_admitted)).unwrap();
        Self { group: Arc::new(group), steps, alarms }
    }

    fn ring(&self) {
        let alarms = std::mem::take(&mut *self.alarms.lock().unwrap());
        // The members that set the alarm may have been dropped.
        for alarm in alarms {
            alarm.send(()).unwrap_or_default();
        }
    }

    /// Completes the next step of the commit.
    fn step(&mut self) {
        if let Some(step) = self.steps.pop() {
            step.send(()).unwrap_or_default();
        }
    }

    fn member(&self) -> Waiting {
        let (task, group) = (Arc::<Task>::default(), Arc::clone(&self.group));
        Arc::clone(&task).wake();
        (task, async move { group.outcome().await }.boxed())
    }
}

type Waiting = (Arc<Task>, BoxFuture<'static, GroupOutcome>);

/// Polls woken members until none can proceed.
fn run(waiting: &mut Vec<Waiting>) {
    for _ in 0..4 {
        waiting.retain_mut(|(task, outcome)| !task.run(outcome));
    }
}

/// Runs the members of a group during a slow commit, and cancels some of them. Returns the number of wake-ups.
fn wakes_of_members(members: usize, cancelled: usize) -> usize {
    let mut slow = Slow::new(1, true);
    let mut waiting: Vec<_> = (0..members).map(|_| slow.member()).collect();
    run(&mut waiting);
    slow.group.seal(None);
    let tasks: Vec<_> = waiting.iter().map(|(task, _)| Arc::clone(task)).collect();
    run(&mut waiting);
    // Members that have been woken drive the commit. These members are cancelled first.
    waiting.sort_by_key(|(task, _)| usize::MAX - task.wakes.load(Ordering::Relaxed));
    for _ in 0..cancelled {
        drop(waiting.remove(0));
        run(&mut waiting);
    }
    slow.step();
    run(&mut waiting);
    assert!(waiting.is_empty(), "{} members were not woken", waiting.len());
    tasks.iter().map(|task| task.wakes.load(Ordering::Relaxed) - 1).sum()
}

#[test]
fn one_member_of_a_group_is_woken_for_the_commit_and_all_at_its_end() {
    let wakes = wakes_of_members(16, 0);
    assert!(wakes <= 16 + 2, "{wakes} wakes of 16 members");
    for cancelled in 1..4 {
        wakes_of_members(4, cancelled);
    }
}

/// An event in the life of a group.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Another member waits.
    Wait,
    Run,
    /// The writer with the turn seals the group.
    Seal,
    /// A member is cancelled.
    Cancel(usize),
    /// A member is kept, but never polled again.
    Stall(usize),
    Step,
    Ring,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        2 => Just(Event::Wait),
        4 => Just(Event::Run),
        1 => Just(Event::Seal),
        1 => (0..8_usize).prop_map(Event::Cancel),
        2 => (0..8_usize).prop_map(Event::Stall),
        2 => Just(Event::Step),
        1 => Just(Event::Ring),
    ];
    prop::collection::vec(event, 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_024))]

    #[test]
    fn every_member_that_is_polled_learns_the_outcome_after_the_time_out(
        steps in 0..4_usize,
        events in events(),
    ) {
        let mut slow = Slow::new(steps, true);
        let (mut waiting, mut stalled) = (vec![slow.member()], Vec::new());
        for event in events {
            match event {
                Event::Wait => waiting.push(slow.member()),
                Event::Run => run(&mut waiting),
                Event::Seal => slow.group.seal(None),
                Event::Cancel(at) if at < waiting.len() => drop(waiting.remove(at)),
                Event::Stall(at) if at < waiting.len() => stalled.push(waiting.remove(at)),
                Event::Step => slow.step(),
                Event::Ring => slow.ring(),
                Event::Cancel(_) | Event::Stall(_) => {}
            }
        }
        waiting.push(slow.member());
        for _ in 0..2 {
            run(&mut waiting);
            slow.ring();
        }
        run(&mut waiting);
        while !slow.steps.is_empty() {
            slow.step();
            run(&mut waiting);
        }
        prop_assert!(waiting.is_empty(), "{} members wait for ever", waiting.len());
    }
}

#[test]
fn a_late_member_that_is_woken_while_another_polls_the_commit_is_woken_again() {
    let other = Arc::<Mutex<Option<Waiting>>>::default();
    let (polled, mut is_first) = (Arc::clone(&other), true);
    // The first poll of the commit wakes all members, and the other member is polled before this poll ends.
    let commit = move |operations: Vec<Operation>, _: Vec<_>, _: Option<_>| {
        std::future::poll_fn(move |context| {
            if !std::mem::take(&mut is_first) {
                return Poll::Ready(Ok(vec![None; operations.len()]));
            }
            context.waker().wake_by_ref();
            let is_done = polled.lock().unwrap().as_mut().is_some_and(|(task, outcome)| task.run(outcome));
            assert!(!is_done);
            Poll::Pending
        })
        .boxed()
    };
    let slow = Slow::with(Vec::new(), Box::new(commit), true);
    let ((task, mut late), mut waiting) = (slow.member(), slow.member());
    waiting.0.run(&mut waiting.1);
    *other.lock().unwrap() = Some(waiting);
    for _ in 0..2 {
        assert!(!task.run(&mut late));
        slow.ring();
    }
    // This poll seals the group. The member that timed out is never polled again.
    assert!(!task.run(&mut late));
    let (task, mut outcome) = other.lock().unwrap().take().unwrap();
    assert!(task.run(&mut outcome), "the other member was not woken");
}

#[test]
fn a_sealed_group_refuses_operations_and_reads() {
    let slow = Slow::new(1, true);
    slow.group.seal(None);
    assert!(matches!(slow.group.read(&row_key(0)), GroupRead::Unknown));
    assert!(matches!(slow.group.read(&row_key(1)), GroupRead::Unknown));
    let more = Operation { row_key: row_key(1), kind: OperationKind::Insert(row(0, 0)) };
    assert!(slow.group.join(&[more], None, admission(true)).is_none());
}

#[test]
fn the_commit_of_a_group_asks_again_whether_its_members_may_write() {
    let slow = Slow::new(0, false);
    slow.group.seal(None);
    let refused = block_on(slow.group.outcome()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::SchemaMismatch);
}
