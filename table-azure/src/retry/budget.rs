//! A client's retry budget, shared by all calls. It limits the additional load that retries put on a failing service.

use std::sync::{Mutex, PoisonError};

/// The cost of one retry, in tokens. A success after a retry returns this cost. Any other success returns one token.
const REPETITION: u32 = 10;

/// A retry budget shared by all calls of a client.
#[derive(Debug)]
pub(crate) struct Budget {
    most: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    tokens: u32,
    /// `true` while retries are disabled because the budget has been exhausted.
    open: bool,
}

impl Budget {
    /// Creates a budget that permits the given number of retries before the first success.
    pub(crate) fn new(repetitions: u32) -> Self {
        let most = repetitions.saturating_mul(REPETITION);
        Self { most, state: Mutex::new(State { tokens: most, open: false }) }
    }

    /// Takes one retry from the budget. Returns `false` if the budget is exhausted.
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
                "too few requests succeed; retries are disabled until more do"
            );
        }
        false
    }

    /// Returns tokens to the budget after a success. `repeated` is `true` if the request was retried.
    pub(crate) fn give_back(&self, repeated: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let tokens = if repeated { REPETITION } else { 1 };
        state.tokens = state.tokens.saturating_add(tokens).min(self.most);
        if state.open && state.tokens >= self.most / 2 {
            state.open = false;
            tracing::info!(target: "table_azure::circuit", state = "closed", "retries are enabled again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rty_2_retries_stop_at_the_budget_and_successes_restore_it() {
        let budget = Budget::new(2);
        assert!(budget.take() && budget.take());
        assert!(!budget.take() && !budget.take());
        for _ in 0..REPETITION {
            budget.give_back(false);
        }
        assert!(budget.take() && !budget.take());
        budget.give_back(true);
        assert!(budget.take());
        // The budget never exceeds its initial value.
        (0..9).for_each(|_| budget.give_back(true));
        assert!(budget.take() && budget.take() && !budget.take());
        assert!(!Budget::new(0).take());
    }
}
