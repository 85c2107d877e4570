//! The budget of repetitions that a client's calls share, so that a failing service is not asked several times as often.

use std::sync::{Mutex, PoisonError};

/// Tokens of one repetition. An operation that ends well gives back what its last repetition took, or one token if it needed none.
const REPETITION: u32 = 10;

/// Repetitions that are allowed for now.
#[derive(Debug)]
pub(crate) struct Budget {
    most: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    tokens: u32,
    /// Whether nothing is repeated, since the tokens ran out.
    open: bool,
}

impl Budget {
    /// A budget of this many repetitions in a row, when none succeeds.
    pub(crate) fn new(repetitions: u32) -> Self {
        let most = repetitions.saturating_mul(REPETITION);
        Self { most, state: Mutex::new(State { tokens: most, open: false }) }
    }

    /// Takes a repetition from the budget; `false` if there is none.
    pub(crate) fn take(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = state.tokens.checked_sub(REPETITION) {
            state.tokens = left;
            return true;
        }
        if !state.open {
            state.open = true;
            tracing::warn!(
                target: "table_azure::circuit",
                state = "open",
                "too few requests end well: none is repeated until more do"
            );
        }
        false
    }

    /// An operation has ended well, after repetitions or at once.
    pub(crate) fn give_back(&self, repeated: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let tokens = if repeated { REPETITION } else { 1 };
        state.tokens = state.tokens.saturating_add(tokens).min(self.most);
        if state.open && state.tokens >= self.most / 2 {
            state.open = false;
            tracing::info!(target: "table_azure::circuit", state = "closed", "requests are repeated as before");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rty_2_repetitions_end_with_the_budget_and_come_back_with_success() {
        let budget = Budget::new(2);
        assert!(budget.take() && budget.take());
        assert!(!budget.take() && !budget.take());
        for _ in 0..REPETITION {
            budget.give_back(false);
        }
        assert!(budget.take() && !budget.take());
        budget.give_back(true);
        assert!(budget.take());
        // It never grows beyond what it began with.
        (0..9).for_each(|_| budget.give_back(true));
        assert!(budget.take() && budget.take() && !budget.take());
        assert!(!Budget::new(0).take());
    }
}
