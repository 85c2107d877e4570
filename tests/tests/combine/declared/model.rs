//! What the tickets may be, by what their writers were answered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The properties that every case has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticket {
    pub(crate) number: u32,
    pub(crate) status: i32,
    pub(crate) mail: String,
    pub(crate) agent: String,
    pub(crate) points: i64,
    pub(crate) comments: i32,
}

/// Of each ticket, the states that are possible. Each has one writer at a time, so that a change without an answer leaves two.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    possible: BTreeMap<u32, Vec<Option<Ticket>>>,
    wrong: Vec<String>,
}

impl Model {
    /// A read: the ticket is what was found, from now on.
    pub(crate) fn found(&self, number: u32, found: Option<&Ticket>) {
        let mut state = self.0.lock().unwrap();
        let possible = state.possible.entry(number).or_insert_with(|| vec![None]);
        let wrong = (!possible.iter().any(|one| one.as_ref() == found))
            .then(|| format!("ticket {number} is {found:?}, and can be {possible:?}"));
        *possible = vec![found.cloned()];
        state.wrong.extend(wrong);
    }

    /// A change is sent.
    pub(crate) fn begun(&self, number: u32, after: Option<&Ticket>) {
        self.0.lock().unwrap().possible.entry(number).or_default().push(after.cloned());
    }

    /// The change was made.
    pub(crate) fn done(&self, number: u32) {
        if let Some(possible) = self.0.lock().unwrap().possible.get_mut(&number) {
            possible.drain(..possible.len() - 1);
        }
    }

    /// The change was refused.
    pub(crate) fn refused(&self, number: u32) {
        if let Some(possible) = self.0.lock().unwrap().possible.get_mut(&number) {
            possible.pop();
        }
    }

    /// What did not agree.
    pub(crate) fn wrong(&self) -> Vec<String> {
        self.0.lock().unwrap().wrong.clone()
    }
}
