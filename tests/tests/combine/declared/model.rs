//! A model of the tickets: the set of states consistent with the results received by the writers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The properties common to the ticket types of all cases.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticket {
    pub(crate) number: u32,
    pub(crate) status: i32,
    pub(crate) mail: String,
    pub(crate) agent: String,
    pub(crate) points: i64,
    pub(crate) comments: i32,
}

/// The possible states of each ticket. Only one writer at a time changes a ticket. A change with an unknown outcome therefore leaves two possible states.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    possible: BTreeMap<u32, Vec<Option<Ticket>>>,
    wrong: Vec<String>,
}

impl Model {
    /// Records the result of a read, and checks that it was one of the possible states. This result is then the only possible state of the ticket.
    pub(crate) fn found(&self, number: u32, found: Option<&Ticket>) {
        let mut state = self.0.lock().unwrap();
        let possible = state.possible.entry(number).or_insert_with(|| vec![None]);
        let wrong = (!possible.iter().any(|one| one.as_ref() == found))
            .then(|| format!("ticket {number} is {found:?}, and can be {possible:?}"));
        *possible = vec![found.cloned()];
        state.wrong.extend(wrong);
    }

    /// Records that a change that would lead to the state `after` has been sent.
    pub(crate) fn begun(&self, number: u32, after: Option<&Ticket>) {
        self.0.lock().unwrap().possible.entry(number).or_default().push(after.cloned());
    }

    /// Records that the last change has been applied.
    pub(crate) fn done(&self, number: u32) {
        if let Some(possible) = self.0.lock().unwrap().possible.get_mut(&number) {
            possible.drain(..possible.len() - 1);
        }
    }

    /// Records that the last change has been rejected.
    pub(crate) fn refused(&self, number: u32) {
        if let Some(possible) = self.0.lock().unwrap().possible.get_mut(&number) {
            possible.pop();
        }
    }

    /// Returns descriptions of the reads whose results were impossible.
    pub(crate) fn wrong(&self) -> Vec<String> {
        self.0.lock().unwrap().wrong.clone()
    }
}
