//! Tests that all data derived in other partitions (index entries, copies, and the rows and totals of views) converges to the state of the entities, even if
//! processes are suspended, die, lose responses or receive stale responses. Each process has its own clock, which may be wrong. The proof is in
//! `docs/convergence.md`. The tests also remove each condition of the proof in turn, and check that some run then does not converge.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod upgrade;
mod weak;
mod world;

use std::collections::HashMap;
use std::pin::Pin;

use pollster::block_on;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::query::Select;
use table_core::{EntityKey, IfMatch, TableName, TableStore};
use tests::effort::effort;
use tests::faults::Control;
use tests::time::Skew;

use weak::{Answers, Without};
use world::{Employee, Process, Project, Recreated, World};

struct Running {
    control: Control,
    future: Pin<Box<dyn Future<Output = ()>>>,
}

impl Running {
    fn start(world: &World, answers: Answers, rng: &mut StdRng) -> Self {
        let skew = Skew::random(rng);
        let control = Control::default().stepped().misreading();
        let process = Process { control, answers, seed: rng.random(), skew };
        let control = process.control.clone();
        let future: Pin<Box<dyn Future<Output = ()>>> = if answers != Answers::Old && rng.random_bool(0.4) {
            let view = world.view(&process);
            Box::pin(async move { drop(view.catch_up(3).await) })
        } else {
            let worker = world.worker(&process);
            Box::pin(async move { drop(worker.run_once().await) })
        };
        Self { control, future }
    }

    /// Runs the process until its next call to a store. Returns `true` if the process has ended.
    fn step(&mut self) -> bool {
        self.control.step(&mut self.future).is_some()
    }
}

/// Makes a random change to an employee or a project.
fn change(world: &World, rng: &mut StdRng, age: i32) {
    let alive = Process::writer();
    let id = rng.random_range(0..3);
    if rng.random_bool(0.3) {
        let (projects, id) = (world.projects(&alive), rng.random_range(0..4));
        let lead = rng.random_bool(0.9).then(|| rng.random_range(0..3));
        let project = Project { plan: "Engine".into(), id, lead, lead_name: None };
        // The write is rejected if the lead does not exist.
        let _ = if rng.random_bool(0.1) {
            block_on(projects.delete(Project::key("Engine", id), IfMatch::Any))
        } else {
            block_on(projects.insert_or_replace(&project)).map(drop)
        };
        return;
    }
    let employee = Employee {
        department: "Sales".into(),
        id,
        age,
        email: ["ada", "bob"][rng.random_range(0..2)].into(),
        last_name: ["Jones", "Cao"][rng.random_range(0..2)].into(),
        badge: rng.random_bool(0.6).then(|| 10 * id + rng.random_range(0..2)),
    };
    let employees = world.employees(&alive);
    let _ = if rng.random_bool(0.15) {
        block_on(employees.delete(Employee::key("Sales", id), IfMatch::Any))
    } else {
        block_on(employees.insert_or_replace(&employee)).map(drop)
    };
}

fn run(seed: u64, answers: Answers, without: Without) -> Option<String> {
    run_and_recreate(seed, answers, without, Recreated::Nothing)
}

/// Runs random processes, and sometimes recreates tables while the processes are suspended.
fn run_and_recreate(seed: u64, answers: Answers, without: Without, recreated: Recreated) -> Option<String> {
    let mut rng = StdRng::seed_from_u64(seed);
    let days = [0, 0, 9, -9][rng.random_range(0..4)];
    let mut world = World::new(without, Skew::Days(days));
    world.has_checks = seed.is_multiple_of(2);
    let mut running: Vec<_> = (0..3).map(|_| Running::start(&world, answers, &mut rng)).collect();
    let mut sleepers = Vec::new();
    for step in 0..rng.random_range(60..300) {
        if recreated != Recreated::Nothing && rng.random_ratio(1, 60) {
            world.recreate(recreated);
        }
        match rng.random_range(0..100) {
            0..=9 => change(&world, &mut rng, step),
            10..=13 => world.pass(rng.random_range(1..60)),
            14..=15 => drop(world.sweep(Skew::random(&mut rng))),
            19 if step % 2 == 0 => world.spoil(&mut rng),
            19 => world.mend(),
            16..=18 => {
                let at = rng.random_range(0..running.len());
                let new = Running::start(&world, answers, &mut rng);
                sleepers.push(std::mem::replace(&mut running[at], new));
            }
            _ => {
                let at = rng.random_range(0..running.len());
                if running[at].step() {
                    running[at] = Running::start(&world, answers, &mut rng);
                }
            }
        }
    }
    for process in &mut running {
        while !process.step() {}
    }
    let pending = world.recover();
    // All work is complete. The suspended processes now make a few more calls and die, which no worker notices.
    for mut sleeper in sleepers {
        for _ in 0..rng.random_range(1..5) {
            if sleeper.step() {
                break;
            }
        }
    }
    if recreated != Recreated::Nothing {
        // A process suspended before a table was deleted can still write to the new table. Nothing records such a write, so only a repair can find it.
        world.repair();
    }
    match pending {
        0 if answers == Answers::Old => world.wrong_entries(),
        0 => world.wrong_entries().or_else(|| world.wrong_copies_or_sums()),
        _ => Some(format!("{pending} changes are not settled")),
    }
    .map(|wrong| format!("seed {seed}: {wrong}"))
}

const RUNS: u64 = 40;

fn assert_converge(answers: Answers) {
    let wrong: Vec<_> = (0..effort(RUNS)).filter_map(|seed| run(seed, answers, Without::Nothing)).collect();
    assert!(wrong.is_empty(), "{} runs: {:?}", wrong.len(), &wrong[..wrong.len().min(4)]);
}

fn assert_do_not(answers: Answers, without: Without) {
    assert!((0..10 * RUNS).any(|seed| run(seed, answers, without).is_some()));
}

#[test]
fn pat_inter_3_den_2_imp_6_derived_rows_converge_despite_pauses_and_crashes() {
    assert_converge(Answers::True);
}

#[test]
fn pat_inter_3_den_2_imp_6_derived_rows_converge_despite_lost_responses() {
    assert_converge(Answers::Lost);
}

fn assert_converge_after_repair(recreated: Recreated) {
    let run = |seed| run_and_recreate(seed, Answers::True, Without::Nothing, recreated);
    let wrong: Vec<_> = (0..effort(RUNS)).filter_map(run).collect();
    assert!(wrong.is_empty(), "{} runs: {:?}", wrong.len(), &wrong[..wrong.len().min(4)]);
}

#[test]
fn imp_6_a_rebuild_corrects_a_view_whose_table_was_created_again() {
    assert_converge_after_repair(Recreated::View);
}

#[test]
fn pat_inter_3_den_2_imp_6_repairs_correct_derived_rows_after_all_tables_were_created_again() {
    assert_converge_after_repair(Recreated::All);
}

#[test]
fn pat_inter_3_cross_partition_indexes_converge_despite_stale_reads() {
    assert_converge(Answers::Old);
}

#[test]
fn pat_inter_3_indexes_do_not_converge_without_the_conditions_of_guards() {
    assert_do_not(Answers::Old, Without::Guards);
}

#[test]
fn pat_inter_3_indexes_do_not_converge_without_the_generations_of_guards() {
    assert_do_not(Answers::Old, Without::Generations);
}

#[test]
fn pat_den_2_copies_do_not_converge_without_the_conditions_of_holders() {
    assert_do_not(Answers::True, Without::Holders);
}

#[test]
fn imp_6_sums_do_not_converge_without_the_conditions_of_records() {
    assert_do_not(Answers::True, Without::Records);
}

fn ada(email: &str, age: i32) -> Employee {
    let (department, last_name) = ("Sales".into(), "Lovelace".into());
    Employee { department, id: 1, age, email: email.into(), last_name, badge: None }
}

/// Tests records that another program has rewritten. Their Timestamps are later than all changes. On a store without checks, the write that confirms the entity
/// gives it a new version, and the records of two keys confirm it one after the other.
#[test]
fn pat_inter_3_rewritten_records_are_settled() {
    for has_checks in [true, false] {
        let mut world = World::new(Without::Nothing, Skew::None);
        world.has_checks = has_checks;
        let alive = world.employees(&Process::alive());
        for email in ["a", "b", "c"] {
            block_on(alive.insert_or_replace(&ada(email, 36))).unwrap();
        }
        world.spoil_steps();
        assert_eq!(world.recover(), 0, "checks: {has_checks}");
        assert_eq!(world.wrong_entries(), None, "checks: {has_checks}");
    }
}

/// Tests that an outdated read of the entity, such as one from before the change, does not end the work on its derived rows.
#[test]
fn pat_inter_3_a_stale_read_of_the_entity_ends_no_settlement() {
    let world = World::new(Without::Nothing, Skew::None);
    let alive = world.employees(&Process::alive());
    for (before, after) in [(ada("a", 36), ada("b", 36)), (ada("b", 36), ada("b", 37))] {
        block_on(alive.insert_or_replace(&before)).unwrap();
        world.recover();
        let key = EntityKey::new("Sales", "empid_001").unwrap();
        let old =
            block_on(world.engine.get(&TableName::new("Company").unwrap(), &key, &Select::All)).unwrap();
        block_on(alive.insert_or_replace(&after)).unwrap();
        for answers in [vec![old], vec![None]] {
            // The faulty store returns only previous versions.
            for seed in 0..6 {
                *world.answered.lock().unwrap() = HashMap::from([(key.clone(), answers.clone())]);
                let process = Process { answers: Answers::Old, seed, ..Process::alive() };
                block_on(world.worker(&process).run_until_idle()).unwrap();
                world.pass(800);
                world.sweep(Skew::None);
            }
        }
        assert_eq!(world.recover(), 0);
        assert_eq!(world.wrong_entries(), None);
    }
}
