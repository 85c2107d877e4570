//! A model of an index that is added while programs built from an older release are writing.
//!
//! The model contains sightings (records that an older program has been seen), grants to holders of SAS tokens, the backfill, and repairs. The backfill
//! consists of a fence, which waits until older programs are refused, and a pass over all rows. Another run of the backfill can continue a pass. A repair does
//! the same work as a pass, at any time.
//!
//! Tools that are unaware of the index write entities, sometimes with a value that the entity had before. They then either require another pass, or repair the
//! index. In some runs, a second release declares the index differently and stores its schema. The programs may then return to the first release, which stores
//! its schema again, and so on.
//!
//! Each request contains the date from the clock of its program. The clock may be wrong, may have stopped, or may be adjusted once during the run. The store
//! refuses a request whose date is too far from its own clock. A request with a SAS has no date. The store refuses it after the token has expired. A program, a
//! backfill or a repair may pause before any request, for any length of time. It may then die or continue.
//!
//! Each run has at most 35 rounds, and makes these choices at random:
//! - one of [`SEQUENCES`]
//! - the rounds in which the schemas are stored
//! - up to six backfills and two repairs in each round
//! - how often processes pause, die and continue, and how often tools write
//!
//! 40 million runs of the complete protocol have passed.

mod conditions;
mod fence;
mod pass;
mod store;
mod world;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::Model;
use crate::backfill::conditions::CONDITIONS;
use crate::backfill::store::{Index, Store};
use crate::backfill::world::{LAST_REQUESTS, LEASE, Program, TOLERANCE, World};
use crate::interleave::{Process, Processes, Random, finish, step};

pub(crate) const MODEL: Model = Model { name: "backfill", conditions: &CONDITIONS, run };

/// The sequences of releases that store their schemas, one after another.
const SEQUENCES: [&[usize]; 5] = [&[1], &[1], &[1, 2], &[1, 2, 1], &[1, 2, 1, 2]];

/// The number of rounds in which older programs write.
const OLD_ROUNDS: usize = 16;

/// The parts of a run that are chosen at random before its first round.
struct Plan {
    releases: &'static [usize],
    /// The round in which each schema is stored.
    begins: Vec<usize>,
    programs: Vec<Rc<Program>>,
    /// The rounds in which the clocks of the programs are adjusted. A round after the end of the run has no effect.
    set_at: Vec<usize>,
    /// The exclusive upper bound for the number of backfills that start in a round.
    runs: usize,
    /// The exclusive upper bound for the number of repairs that start in a round.
    repairs: usize,
    /// In each round, each program makes a grant with a probability of 1 in `grants`.
    grants: usize,
    /// In each round, a tool writes an entity with a probability of 1 in `tools`.
    tools: usize,
}

/// Returns a random number of minutes below `most`.
fn minutes(random: &Random, most: i64) -> i64 {
    i64::try_from(random.below(usize::try_from(most).unwrap_or(1))).unwrap_or(0)
}

impl Plan {
    fn new(random: &Random) -> Self {
        let releases = SEQUENCES[random.below(SEQUENCES.len()) % SEQUENCES.len()];
        let mut begins = vec![random.below(4)];
        for _ in releases.iter().skip(1) {
            begins.push(begins.last().unwrap_or(&0) + 1 + random.below(6));
        }
        let program = |release| {
            let ahead = Cell::new(minutes(random, 3 * TOLERANCE) - minutes(random, 3 * TOLERANCE));
            Rc::new(Program { release, ahead, is_stopped: random.one_in(4), asked: Cell::new(None) })
        };
        // If only one schema is stored, the programs of its release need no permission.
        let programs: &[usize] = if releases.len() == 1 { &[0, 0] } else { &[0, 0, 1, 2] };
        let programs: Vec<_> = programs.iter().map(|release| program(*release)).collect();
        Self {
            releases,
            begins,
            set_at: programs.iter().map(|_| random.below(24)).collect(),
            programs,
            runs: if random.one_in(2) { 3 } else { 7 },
            repairs: [1, 3][random.below(2) % 2],
            grants: [3, 12][random.below(2) % 2],
            tools: [1, 6][random.below(2) % 2],
        }
    }

    /// Returns the releases whose schemas have been stored before the end of a round. They are in the order in which the schemas were stored.
    fn opened(&self, round: usize) -> Vec<usize> {
        let opened = self.releases.iter().zip(&self.begins).filter(|(_, begin)| **begin <= round);
        opened.map(|(release, _)| *release).collect()
    }

    /// Starts the writes, grants, backfills and repairs of a round.
    fn start(&self, round: usize, world: &World, processes: &mut Processes) {
        let (random, opened) = (&world.random, self.opened(round));
        for (program, set_at) in self.programs.iter().zip(&self.set_at) {
            let exists = program.release == 0 || opened.contains(&program.release);
            if random.one_in(2) && round < OLD_ROUNDS && exists {
                processes.start(Box::pin(world.clone().old_write(Rc::clone(program))));
            }
            if random.one_in(self.grants) && round < OLD_ROUNDS && program.release == 0 {
                let valid = minutes(random, 10 * TOLERANCE);
                processes.start(Box::pin(world.clone().grant(Rc::clone(program), valid)));
            }
            if round == *set_at {
                program.ahead.set(program.ahead.get() + minutes(random, 4 * TOLERANCE) - 2 * TOLERANCE);
            }
        }
        if opened.is_empty() {
            return;
        }
        if self.releases.len() == 1 {
            processes.start(Box::pin(world.clone().new_write(1)));
        }
        let release = || opened.get(random.below(opened.len())).copied().unwrap_or(1);
        for _ in 0..random.below(self.runs) {
            processes.start(Box::pin(world.clone().backfill(release())));
        }
        for _ in 0..random.below(self.repairs) {
            processes.start(Box::pin(world.clone().repair(release())));
        }
        if random.one_in(self.tools) {
            world.overwrite();
        }
    }
}

fn run(seed: u64, removed: Option<usize>) -> Result<(), String> {
    let random = Random::new(seed);
    let store = Rc::new(RefCell::new(Store::new(-10 * LAST_REQUESTS)));
    let world = World { store, random: random.clone(), removed };
    let plan = Plan::new(&random);
    let mut processes = Processes::pausing(random.clone(), [8, 100][random.below(2) % 2]);
    let mut asleep: Vec<Process> = Vec::new();
    // The exclusive upper bound for the number of processes that continue after a round.
    let wakes = [2, 4][random.below(2) % 2];
    let last = plan.begins.last().copied().unwrap_or_default();
    for round in 0..last + 5 + random.below(10) {
        if let Some((release, _)) = plan.releases.iter().zip(&plan.begins).find(|(_, begin)| **begin == round)
        {
            world.store.borrow_mut().open(*release);
        }
        plan.start(round, &world, &mut processes);
        processes.run(random.below(30));
        world.check()?;
        world.store.borrow_mut().now +=
            [0, LEASE, minutes(&random, TOLERANCE), LAST_REQUESTS][random.below(4) % 4];
        asleep.extend(processes.sleepers());
        for _ in 0..random.below(wakes) {
            if asleep.is_empty() {
                break;
            }
            let mut process = asleep.swap_remove(random.below(asleep.len()));
            if !(0..random.below(4)).any(|_| step(&mut process)) {
                match random.below(6) {
                    0 => drop(process),
                    1..4 => asleep.push(process),
                    _ => processes.resume(process),
                }
            }
        }
        world.check()?;
    }
    processes.run_to_end();
    asleep.extend(processes.sleepers());
    for _ in 0..8 {
        world.store.borrow_mut().now += LAST_REQUESTS;
        finish(Box::pin(world.clone().backfill(world.schema())));
    }
    if world.index() != Index::Ready {
        return Err(format!("the index does not become ready: {:?}", world.index()));
    }
    for mut process in asleep {
        world.store.borrow_mut().now += minutes(&random, TOLERANCE);
        (0..random.below(8)).any(|_| step(&mut process));
        world.check()?;
    }
    world.check()
}

#[cfg(test)]
mod tests {
    use super::conditions::{GENERATION, SEEN_FIRST, SEEN_POSITION, UNIQUE};
    use super::*;

    /// Tests two runs of the backfill that read the same time from the store. They refuse older programs one after the other. A third run knows the first
    /// refusal, and mistakes the second one for it.
    #[test]
    fn a_refusal_that_is_known_by_its_time_alone_is_confirmed_by_mistake() {
        const FOUND_BY: u64 = 247_964;
        assert!(run(FOUND_BY, Some(UNIQUE)).is_err());
        assert_eq!(run(FOUND_BY, None), Ok(()));
    }

    /// Tests a run of one release that reads the time and pauses. It then records this time as the time of another release's first run.
    #[test]
    fn a_first_run_before_another_schema_is_recorded_by_mistake() {
        const FOUND_BY: u64 = 2_178_082;
        assert!(run(FOUND_BY, Some(SEEN_FIRST)).is_err());
        assert_eq!(run(FOUND_BY, None), Ok(()));
    }

    /// Tests a run of one release that pauses and then continues the pass of another release. It writes entries for its own release, but marks the index of the
    /// other release as complete.
    #[test]
    fn a_pass_of_another_schema_is_continued_by_mistake() {
        const FOUND_BY: u64 = 9_359;
        assert!(run(FOUND_BY, Some(SEEN_POSITION)).is_err());
        assert_eq!(run(FOUND_BY, None), Ok(()));
    }

    /// Tests a run that reads a schema and the time, and pauses. Another release stores its schema, and then the earlier schema is stored again. The run then
    /// records its earlier time as the time of the first run. The backfill therefore does not wait for requests of the other release.
    #[test]
    fn a_first_run_before_the_same_schema_was_stored_again_is_recorded_by_mistake() {
        const FOUND_BY: u64 = 5_236_141;
        assert!(run(FOUND_BY, Some(GENERATION)).is_err());
        assert_eq!(run(FOUND_BY, None), Ok(()));
    }
}
