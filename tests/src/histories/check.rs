//! Checks a history by searching for an order of all effects that explains every result.
//!
//! The search is the algorithm of Wing and Gong. In addition, it remembers the states that it has already tried.
//!
//! Each object is searched separately, because one order per object implies an order for all objects (linearizability is local). A unit of work can write
//! several rows, so all rows form a single object. Each counter is a separate object.

use std::collections::HashSet;
use std::hash::Hash;

use table_core::ErrorCode;

use crate::histories::history::{Call, Change, Content, History, Outcome, Record, Write};

/// Checks that the results of a history are possible.
///
/// # Errors
/// A description of the object for whose calls no order is possible, and of these calls.
pub fn check(history: &History) -> Result<(), String> {
    let rows = rows(history);
    if !search(&rows, Rows::default()) {
        return Err(unexplained("the rows", history, |call| matches!(call, Call::Get(_) | Call::Write(_))));
    }
    for counter in 0..COUNTERS {
        let on = |call: &Call| matches!(call, Call::Add(at, _) | Call::Count(at) if *at == counter);
        let effects: Vec<_> =
            history.records.iter().filter(|record| on(&record.call)).filter_map(sum).collect();
        if !search(&effects, Count(0)) {
            return Err(unexplained(&format!("counter {counter}"), history, on));
        }
    }
    Ok(())
}

/// The number of counters in a history.
pub(super) const COUNTERS: usize = 2;
/// The number of rows in a history.
pub(super) const ROWS: usize = 2;

fn unexplained(what: &str, history: &History, on: impl Fn(&Call) -> bool) -> String {
    let records = history.records.iter().filter(|record| on(&record.call));
    let lines: Vec<_> = records.map(ToString::to_string).collect();
    format!("no order of effects explains the answers about {what}:\n{}", lines.join("\n"))
}

/// An effect of a call, and the interval in which it may have taken place.
#[derive(Clone, Debug)]
struct Effect<A> {
    began: usize,
    /// The event by which the effect must have taken place, or `None` if it may never have taken place.
    by: Option<usize>,
    action: A,
}

/// The state of an object, such as a counter. Effects are applied to it.
trait Model: Clone + Eq + Hash {
    type Action;
    /// Returns the state after an effect, or `None` if the effect is impossible in this state.
    fn apply(&self, action: &Self::Action) -> Option<Self>;
}

/// Returns `true` if the effects have a possible order. It must respect real time, and contain every effect that must have taken place.
fn search<M: Model>(effects: &[Effect<M::Action>], start: M) -> bool {
    let words = effects.len().div_ceil(64);
    let mut tried = HashSet::new();
    let mut open = vec![(vec![0_u64; words], start)];
    while let Some((done, state)) = open.pop() {
        let left = |at: usize| done[at / 64] & (1 << (at % 64)) == 0;
        let due = (0..effects.len()).filter(|at| left(*at)).filter_map(|at| effects[at].by).min();
        let Some(due) = due else { return true };
        for (at, effect) in effects.iter().enumerate().filter(|(at, _)| left(*at)) {
            if effect.began > due {
                continue;
            }
            if let Some(next) = state.apply(&effect.action) {
                let mut done = done.clone();
                done[at / 64] |= 1 << (at % 64);
                if tried.insert((done.clone(), next.clone())) {
                    open.push((done, next));
                }
            }
        }
    }
    false
}

/// The version of a row. It is identified by the `ETag` that a client received, or by the effect that created it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Version {
    Reported(String),
    Of(usize),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Rows([Option<(Content, Version)>; ROWS]);

enum Action {
    Get(usize, Option<(Content, String)>),
    /// The write was applied. The second field contains the new `ETag`s that the client received.
    Applied(Vec<Write>, Vec<Option<String>>, usize),
    /// The write was refused with this error code.
    Refused(Vec<Write>, ErrorCode),
}

/// Returns the effect that each call has on the rows.
fn rows(history: &History) -> Vec<Effect<Action>> {
    let mut effects = Vec::new();
    for (number, record) in history.records.iter().enumerate() {
        let Record { began, ended, .. } = *record;
        let effect = |by, action| Effect { began, by, action };
        match (&record.call, &record.outcome) {
            (Call::Get(row), Outcome::Found(found)) => {
                effects.push(effect(Some(ended), Action::Get(*row, found.clone())));
            }
            (Call::Write(writes), Outcome::Written(etags)) => {
                let applied = Action::Applied(writes.clone(), etags.clone(), number);
                effects.push(effect(Some(ended), applied));
            }
            (Call::Write(writes), Outcome::Ambiguous) => {
                effects.push(effect(None, Action::Applied(writes.clone(), vec![None; writes.len()], number)));
            }
            (Call::Write(writes), Outcome::Refused(code)) if says_why(*code) => {
                effects.push(effect(Some(ended), Action::Refused(writes.clone(), *code)));
            }
            // A read that failed has no effect. Neither does a write that was throttled or never sent.
            _ => {}
        }
        // After a retry, a write without a version may have taken effect several times (`docs/lost-answers.md`).
        if let (Call::Write(writes), Outcome::Written(_) | Outcome::Ambiguous) =
            (&record.call, &record.outcome)
        {
            for copy in 1..record.arrivals {
                let number = number + copy * history.records.len();
                effects.push(effect(None, Action::Applied(writes.clone(), vec![None; writes.len()], number)));
            }
        }
    }
    effects
}

/// Returns `true` if a rejection with this code depends on stored data.
const fn says_why(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::EntityAlreadyExists | ErrorCode::ResourceNotFound | ErrorCode::UpdateConditionNotSatisfied
    )
}

impl Rows {
    /// Returns the error code of a write's rejection, or `None` if it is accepted.
    fn refuses(&self, write: &Write) -> Option<ErrorCode> {
        let found = self.0[write.row].as_ref();
        match (&write.change, found) {
            (Change::Insert(_), Some(_)) => Some(ErrorCode::EntityAlreadyExists),
            (Change::Replace(..) | Change::Merge(..) | Change::Delete(_), None) => {
                Some(ErrorCode::ResourceNotFound)
            }
            (
                Change::Replace(_, Some(etag)) | Change::Merge(_, Some(etag)) | Change::Delete(Some(etag)),
                Some((_, version)),
            ) => {
                // A client can only name a version that it has received. It cannot name one from a lost response.
                (*version != Version::Reported(etag.clone()))
                    .then_some(ErrorCode::UpdateConditionNotSatisfied)
            }
            _ => None,
        }
    }

    fn write(&mut self, write: &Write, version: Version) {
        let row = &mut self.0[write.row];
        let merged = |content: &Content, row: &Option<(Content, Version)>| {
            let old = row.as_ref().map_or([None; 2], |(content, _)| *content);
            [content[0].or(old[0]), content[1].or(old[1])]
        };
        *row = match &write.change {
            Change::Insert(content) | Change::Replace(content, _) | Change::InsertOrReplace(content) => {
                Some((*content, version))
            }
            Change::Merge(content, _) | Change::InsertOrMerge(content) => {
                Some((merged(content, row), version))
            }
            Change::Delete(_) => None,
        };
    }
}

impl Model for Rows {
    type Action = Action;

    fn apply(&self, action: &Action) -> Option<Self> {
        let mut next = self.clone();
        match action {
            Action::Get(row, found) => match (found, &mut next.0[*row]) {
                (None, None) => {}
                (Some((content, etag)), Some((stored, version))) if content == stored => match version {
                    Version::Reported(received) if received == etag => {}
                    Version::Of(_) => *version = Version::Reported(etag.clone()),
                    Version::Reported(_) => return None,
                },
                _ => return None,
            },
            Action::Applied(writes, etags, number) => {
                for (write, etag) in writes.iter().zip(etags) {
                    if next.refuses(write).is_some() {
                        return None;
                    }
                    let version = etag.clone().map_or(Version::Of(*number), Version::Reported);
                    next.write(write, version);
                }
            }
            Action::Refused(writes, code) => {
                for write in writes {
                    match next.refuses(write) {
                        Some(found) if found == *code => return Some(self.clone()),
                        Some(_) => return None,
                        // Later writes in the unit of work see this version. Its value does not matter.
                        None => next.write(write, Version::Of(usize::MAX)),
                    }
                }
                return None;
            }
        }
        Some(next)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Count(i64);

struct Sum {
    by: i64,
    received: Option<i64>,
}

/// Returns the effect of a call on a counter, or `None` for a call without an effect.
fn sum(record: &Record) -> Option<Effect<Sum>> {
    let Record { began, ended, .. } = *record;
    let by = match record.call {
        Call::Add(_, by) => by,
        _ => 0,
    };
    match record.outcome {
        Outcome::Counted(count) => {
            Some(Effect { began, by: Some(ended), action: Sum { by, received: Some(count) } })
        }
        Outcome::Ambiguous if by != 0 => Some(Effect { began, by: None, action: Sum { by, received: None } }),
        _ => None,
    }
}

impl Model for Count {
    type Action = Sum;

    fn apply(&self, action: &Sum) -> Option<Self> {
        let next = self.0 + action.by;
        action.received.is_none_or(|received| received == next).then_some(Self(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(began: usize, ended: usize, call: Call, outcome: Outcome) -> Record {
        Record { client: 0, call, began, ended, outcome, arrivals: 1 }
    }

    fn insert(value: i32) -> Call {
        Call::Write(vec![Write { row: 0, change: Change::Insert([Some(value), None]) }])
    }

    fn done(etag: &str) -> Outcome {
        Outcome::Written(vec![Some(etag.to_owned())])
    }

    fn found(value: i32, etag: &str) -> Outcome {
        Outcome::Found(Some(([Some(value), None], etag.to_owned())))
    }

    fn holds(records: Vec<Record>) -> bool {
        check(&History { records }).is_ok()
    }

    #[test]
    fn con_11_acknowledged_writes_happened_and_refused_ones_did_not() {
        assert!(holds(vec![record(0, 1, insert(1), done("a")), record(2, 3, Call::Get(0), found(1, "a"))]));
        assert!(!holds(vec![
            record(0, 1, insert(1), done("a")),
            record(2, 3, Call::Get(0), Outcome::Found(None))
        ]));
        let refused = Outcome::Refused(ErrorCode::EntityAlreadyExists);
        assert!(!holds(vec![record(0, 1, insert(1), refused.clone())]));
        assert!(holds(vec![record(0, 5, insert(1), refused.clone()), record(1, 2, insert(2), done("a"))]));
        // Two inserts of the same row cannot both be acknowledged.
        assert!(!holds(vec![record(0, 5, insert(1), done("a")), record(1, 2, insert(1), done("b"))]));
    }

    #[test]
    fn con_11_ambiguous_writes_happened_at_most_once() {
        for seen in [found(1, "a"), Outcome::Found(None)] {
            let lost = record(0, 1, insert(1), Outcome::Ambiguous);
            assert!(holds(vec![lost, record(2, 3, Call::Get(0), seen)]));
        }
        let add = |began, outcome| record(began, began + 1, Call::Add(0, 1), outcome);
        let count = |count| record(8, 9, Call::Count(0), Outcome::Counted(count));
        for (sum, possible) in [(1, true), (2, true), (3, false), (0, false)] {
            let records = vec![add(0, Outcome::Counted(1)), add(2, Outcome::Ambiguous), count(sum)];
            assert_eq!(holds(records), possible, "{sum}");
        }
        // If two increments are acknowledged, neither can be missing from the sum.
        assert!(!holds(vec![
            record(0, 5, Call::Add(0, 1), Outcome::Counted(1)),
            add(1, Outcome::Counted(1))
        ]));
    }

    #[test]
    fn con_11_real_time_is_respected_and_reads_reveal_versions() {
        let replace = |etag: &str| {
            let change = Change::Replace([Some(2), None], Some(etag.to_owned()));
            Call::Write(vec![Write { row: 0, change }])
        };
        let inserted = || record(0, 1, insert(1), done("a"));
        assert!(holds(vec![inserted(), record(2, 3, replace("a"), done("b"))]));
        assert!(!holds(vec![
            inserted(),
            record(2, 3, replace("a"), done("b")),
            record(4, 5, Call::Get(0), found(1, "a"))
        ]));
        let refused = Outcome::Refused(ErrorCode::UpdateConditionNotSatisfied);
        assert!(!holds(vec![inserted(), record(2, 3, replace("a"), refused)]));
    }
}
