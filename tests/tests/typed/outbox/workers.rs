//! Tests concurrent workers whose messages are delayed, repeated and reordered (PAT-EC-2, PAT-EC-3, PAT-EC-7).

use std::pin::Pin;
use std::thread;
use std::time::Duration;

use pollster::block_on;
use proptest::prelude::*;
use table_core::{PartitionKey, QueueStore};
use table_patterns::work::{Sweep, Worker};
use tests::faults::{Control, Death};

use crate::outbox::company::{Company, Store, employees};

#[derive(Clone, Debug)]
enum Event {
    /// Changes an employee.
    Change {
        id: u8,
        email: u8,
        goes: bool,
    },
    /// Lets a worker continue until its next call.
    Step(u8),
    /// Starts a worker that dies at its `call`-th call. It replaces another worker, which is suspended until the end.
    Kill {
        worker: u8,
        call: u8,
        after: bool,
    },
    /// Delivers a message twice.
    Duplicate,
    /// Loses all messages.
    Lose,
    Pass(u16),
    Sweep,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        5 => (0..3_u8, 0..3_u8, prop::bool::weighted(0.3))
            .prop_map(|(id, email, goes)| Event::Change { id, email, goes }),
        24 => (0..3_u8).prop_map(Event::Step),
        2 => (0..3_u8, 1..12_u8, any::<bool>())
            .prop_map(|(worker, call, after)| Event::Kill { worker, call, after }),
        2 => Just(Event::Duplicate),
        1 => Just(Event::Lose),
        2 => (1..400_u16).prop_map(Event::Pass),
        1 => Just(Event::Sweep),
    ]
}

type Running = Pin<Box<dyn Future<Output = ()>>>;

/// A worker that waits for the test before each of its calls. If the test rarely lets it continue, it is like a very slow worker.
struct Process {
    control: Control,
    running: Option<Running>,
}

impl Process {
    fn start(company: &Company, control: Control) -> Self {
        let control = control.stepped();
        let worker: Worker<Store, Store> = company.worker(&control);
        let running: Running = Box::pin(async move {
            let _ = worker.run_once().await;
        });
        Self { control, running: Some(running) }
    }

    /// Runs the worker until its next call to a store. Returns `false` if the worker has ended.
    fn step(&mut self) -> bool {
        let Some(running) = &mut self.running else { return false };
        if self.control.step(running).is_some() {
            self.running = None;
        }
        self.running.is_some()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn pat_ec_2_3_and_8_copies_converge_despite_pauses_crashes_and_redelivery(
        events in prop::collection::vec(event(), 10..160),
    ) {
        let company = Company::new();
        let alive = company.outbox(&Control::default());
        let mut processes: Vec<Process> =
            (0..3).map(|_| Process::start(&company, Control::default())).collect();
        for (n, event) in events.into_iter().enumerate() {
            match event {
                Event::Change { id, email, goes } => {
                    let (id, email) = (id.to_string(), format!("e{email}"));
                    let to = (!goes).then(|| (email.as_str(), i32::try_from(n).unwrap()));
                    block_on(company.change(&alive, &id, to)).unwrap();
                }
                Event::Step(worker) => {
                    let process = &mut processes[usize::from(worker)];
                    if !process.step() {
                        *process = Process::start(&company, Control::default());
                    }
                }
                Event::Kill { worker, call, after } => {
                    let death = if after { Death::After } else { Death::Before };
                    let mut process = Process::start(&company, Control::dying(call.into(), death));
                    while process.step() {}
                    // The process that has been replaced is suspended. It continues only at the end.
                    let sleeper = std::mem::replace(&mut processes[usize::from(worker)], process);
                    processes.push(sleeper);
                }
                Event::Duplicate => {
                    block_on(alive.notify(&employees(), &PartitionKey::new("Sales").unwrap())).unwrap();
                }
                Event::Lose => block_on(alive.queues().clear(alive.queue())).unwrap(),
                Event::Pass(seconds) => company.pass(Duration::from_secs(seconds.into())),
                Event::Sweep => {
                    block_on(Sweep::new(alive.clone()).sweep_registered()).unwrap();
                }
            }
        }
        // All other workers finish their work. The suspended processes then resume with stale data.
        company.recover();
        for process in &mut processes {
            while process.step() {}
        }
        company.recover();
        prop_assert_eq!(company.pending(), 0);
        prop_assert_eq!(company.directory(), company.expected());
    }
}

#[test]
fn pat_ec_7_many_concurrent_workers_do_all_the_work() {
    let company = Company::new();
    let alive = company.outbox(&Control::default());
    thread::scope(|scope| {
        for writer in 0..3 {
            let (company, alive) = (&company, alive.clone());
            scope.spawn(move || {
                for n in 0..30 {
                    let id = format!("{writer}");
                    let age = i32::try_from(n).unwrap();
                    let to = (n % 7 != 6).then(|| (["ada", "bob", "eve"][n % 3], age));
                    block_on(company.change(&alive, &id, to)).unwrap();
                }
            });
        }
        for _ in 0..4 {
            let worker = company.worker(&Control::default());
            scope.spawn(move || {
                for _ in 0..40 {
                    block_on(worker.run_once()).unwrap();
                }
            });
        }
    });
    company.recover();
    company.assert_settled();
}

#[test]
fn que_21_a_worker_that_lost_its_lease_stops() {
    let company = Company::new();
    let alive = company.outbox(&Control::default());
    block_on(company.change(&alive, "1", Some(("ada", 36)))).unwrap();
    let control = Control::default().stepped();
    let worker = company.worker(&control);
    let mut slow = Box::pin(worker.run_once());
    // The worker has received the message and claimed the row. Next, it will read the target.
    for _ in 0..4 {
        assert!(control.step(&mut slow).is_none());
    }
    company.pass(Duration::from_secs(60));
    let other = company.worker(&Control::default());
    block_on(other.run_until_idle()).unwrap();
    assert_eq!(other.metrics().done, 1);
    while control.step(&mut slow).is_none() {}
    drop(slow);
    let metrics = worker.metrics();
    assert_eq!((metrics.lost, metrics.done, metrics.failures), (1, 0, 0));
    company.assert_settled();
}
