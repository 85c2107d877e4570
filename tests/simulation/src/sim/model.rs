//! A model of the engine. It knows the possible contents of the tables, given the requests, results and reads so far.
//!
//! Writes take effect in the order of the requests, each one completely or not at all. While a write has no result, its outcome is unknown. A world is a
//! possible course of events. The model keeps every world that agrees with all known results and reads. If no world remains, the history has failed.

mod state;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

pub(super) use state::{
    Condition, NUMBERS, Number, Operation, Outcome, Place, Refusal, State, Table, Verb, Write,
};

/// The outcome of a write in one world.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Fate {
    Done(Option<Number>),
    Refused(Refusal),
    Skipped,
}

/// The effect of a write on a state. It is the new state and the message received, or the reason for the refusal.
type Effect = Result<(Arc<State>, Option<Number>), Refusal>;

/// A write whose result is not known yet.
#[derive(Clone, Debug)]
struct Open {
    id: u64,
    write: Write,
    /// `true` if the caller no longer waits for the result, or if the result does not reveal the outcome.
    silent: bool,
    /// A cache of the effect of the write on each state so far, by the address of the state. Every read needs these effects again.
    effects: RefCell<HashMap<*const State, (Arc<State>, Effect)>>,
}

impl Open {
    fn effect(&self, state: &Arc<State>) -> Effect {
        let mut effects = self.effects.borrow_mut();
        let known = effects.entry(Arc::as_ptr(state)).or_insert_with(|| {
            let effect = state.after(&self.write).map(|(next, received)| (Arc::new(next), received));
            (Arc::clone(state), effect)
        });
        known.1.clone()
    }
}

/// A world: one possible course of events. An open write is one whose result is not known. A world consists of a state, and of the outcomes of the oldest open
/// writes that are assumed to have led to this state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    state: Arc<State>,
    ahead: VecDeque<Fate>,
}

impl World {
    fn of(state: Arc<State>) -> Self {
        Self { state, ahead: VecDeque::new() }
    }

    /// Returns the worlds that result from the possible outcomes of the next write.
    fn next(&self, open: &Open, may_skip: bool) -> Vec<Self> {
        let with = |state: Arc<State>, fate| {
            let mut ahead = self.ahead.clone();
            ahead.push_back(fate);
            Self { state, ahead }
        };
        let tried = match open.effect(&self.state) {
            Ok((state, received)) => with(state, Fate::Done(received)),
            Err(refusal) => with(Arc::clone(&self.state), Fate::Refused(refusal)),
        };
        let skipped = may_skip.then(|| with(Arc::clone(&self.state), Fate::Skipped));
        std::iter::once(tried).chain(skipped).collect()
    }
}

/// A contradiction between the model and a result.
#[derive(Clone, Debug)]
pub(super) struct Wrong(pub(super) String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// All worlds that agree with the known results.
#[derive(Debug)]
pub(super) struct Model {
    worlds: Vec<World>,
    open: VecDeque<Open>,
    /// `true` if a write may have been skipped. This is possible if its caller never received a result.
    pub(super) may_skip: bool,
    /// All earlier possible states. If the journal is corrupted, or unsynced frames are lost, the engine may return to any of them.
    past: Vec<Arc<State>>,
    /// All states that have been possible since recording began, or `None` if nothing is being recorded.
    noted: Option<Vec<Arc<State>>>,
}

/// Returns the distinct elements in order. After a power loss, the list may contain thousands of elements. These are too many to compare all pairs.
fn distinct<T: Clone + Eq + Hash>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    all.into_iter().filter(|one| seen.insert(one.clone())).collect()
}

/// Returns the state after the engine has ended. The names of deleted tables can then be used again.
fn without_leaving(state: Arc<State>) -> Arc<State> {
    if state.leaving.is_empty() {
        return state;
    }
    Arc::new(State { leaving: BTreeSet::new(), ..State::clone(&state) })
}

fn note(noted: &mut Option<Vec<Arc<State>>>, worlds: &[World]) {
    if let Some(noted) = noted {
        let states = worlds.iter().map(|world| Arc::clone(&world.state));
        *noted = distinct(std::mem::take(noted).into_iter().chain(states));
    }
}

impl Default for Model {
    fn default() -> Self {
        Self {
            worlds: vec![World::of(Arc::default())],
            open: VecDeque::new(),
            may_skip: false,
            past: vec![Arc::default()],
            noted: None,
        }
    }
}

impl Model {
    /// Records that a write was requested.
    pub(super) fn ask(&mut self, id: u64, write: Write) {
        self.open.push_back(Open { id, write, silent: false, effects: RefCell::default() });
    }

    /// Records that the caller of a write no longer waits for the result.
    pub(super) fn give_up(&mut self, id: u64) {
        if let Some(open) = self.open.iter_mut().find(|open| open.id == id) {
            open.silent = true;
        }
    }

    /// Records the result of a write.
    pub(super) fn answer(&mut self, id: u64, outcome: &Outcome) -> Result<(), Wrong> {
        while let Some(open) = self.open.pop_front() {
            let is_it = open.id == id;
            if !is_it && !open.silent {
                return Err(Wrong(format!("{:?} is behind, but {id} was answered before it", open.write)));
            }
            let may_skip = self.may_skip || *outcome == Outcome::NotDone;
            let mut worlds = Vec::new();
            for world in std::mem::take(&mut self.worlds) {
                let next = if world.ahead.is_empty() { world.next(&open, may_skip) } else { vec![world] };
                worlds.extend(next.into_iter().filter_map(|mut world| {
                    let fate = world.ahead.pop_front()?;
                    let agrees = match (&fate, outcome) {
                        // A refused write is reported as not done if its commit group is reverted. A commit group consists of the writes that one sync commits.
                        (Fate::Done(is), Outcome::Done(seen)) => is == seen,
                        (Fate::Skipped | Fate::Refused(_), Outcome::NotDone) => true,
                        (Fate::Refused(is), Outcome::Refused(seen)) => is == seen,
                        _ => false,
                    };
                    (!is_it || agrees).then_some(world)
                }));
            }
            self.keep(worlds, || format!("{outcome:?} is not the answer to {} {:?}", open.id, open.write))?;
            if is_it {
                return Ok(());
            }
        }
        Err(Wrong(format!("write {id} was answered twice")))
    }

    /// Keeps the distinct worlds in `worlds`. Fails if the list is empty.
    fn keep(&mut self, worlds: Vec<World>, wrong: impl FnOnce() -> String) -> Result<(), Wrong> {
        self.worlds = distinct(std::mem::take(&mut self.worlds).into_iter().chain(worlds));
        if self.worlds.is_empty() {
            return Err(Wrong(wrong()));
        }
        for world in &self.worlds {
            if !self.past.iter().rev().take(16).any(|state| *state == world.state) {
                self.past.push(Arc::clone(&world.state));
            }
        }
        note(&mut self.noted, &self.worlds);
        Ok(())
    }

    /// Starts to record the possible states. The current ones are recorded first.
    pub(super) fn begin_to_note(&mut self) {
        self.noted = Some(self.states());
    }

    /// Returns the states that have been possible since recording began.
    pub(super) fn end_of_notes(&mut self) -> Vec<Arc<State>> {
        let visible = self.visible();
        note(&mut self.noted, &visible);
        self.noted.take().unwrap_or_default()
    }

    /// Returns all worlds that a reader may see now. They are the known worlds, and the worlds in which more open writes have taken effect.
    fn visible(&self) -> Vec<World> {
        let mut all = Vec::new();
        for world in &self.worlds {
            let mut reached = vec![world.clone()];
            for open in self.open.iter().skip(world.ahead.len()) {
                let may_skip = self.may_skip;
                let next: Vec<_> = reached.iter().flat_map(|world| world.next(open, may_skip)).collect();
                all.extend(std::mem::replace(&mut reached, next));
            }
            all.extend(reached);
        }
        distinct(all)
    }

    /// Returns the states that a reader may see now.
    pub(super) fn states(&self) -> Vec<Arc<State>> {
        distinct(self.visible().into_iter().map(|world| world.state))
    }

    /// Records an observation that only some of the possible states allow. Afterwards, the observed state is certain.
    pub(super) fn observe(
        &mut self,
        what: impl Fn(&State) -> bool,
        describe: impl FnOnce() -> String,
    ) -> Result<(), Wrong> {
        let visible = self.visible();
        note(&mut self.noted, &visible);
        // Worlds that match the observation and do not differ otherwise are merged. The result is the world with the fewest certain writes.
        let seen: Vec<World> = visible.into_iter().filter(|world| what(&world.state)).collect();
        let worlds = std::mem::take(&mut self.worlds);
        self.keep(seen, || {
            let known = worlds.first().map(|world| format!("{:?}", world.state)).unwrap_or_default();
            format!("{}; {} states were possible before, the first of them {known}", describe(), worlds.len())
        })
    }

    /// Records that the engine has ended. The first of the open writes have taken effect, possibly none or all of them.
    pub(super) fn end(&mut self) {
        let states = distinct(self.states().into_iter().map(without_leaving));
        self.open.clear();
        let past = std::mem::take(&mut self.past).into_iter().map(without_leaving);
        self.past = distinct(past.chain(states.iter().cloned()));
        self.worlds = states.into_iter().map(World::of).collect();
    }

    /// Records that the end of the journal may be lost. The tables may then return to any past state, but to no other state.
    pub(super) fn fall_back(&mut self) {
        let past = self.past.iter().cloned().map(World::of);
        self.worlds = distinct(std::mem::take(&mut self.worlds).into_iter().chain(past));
    }

    /// Returns `true` if too many worlds are possible. A read should then exclude some of them before the next request.
    pub(super) fn is_vague(&self) -> bool {
        self.worlds.len() > 8
    }

    /// Returns `true` if another write may be requested. The number is limited, because the number of worlds grows with the number of open writes.
    pub(super) fn has_room(&self, callers: usize) -> bool {
        self.open.len() < if self.may_skip { callers.min(3) } else { callers }
    }
}
