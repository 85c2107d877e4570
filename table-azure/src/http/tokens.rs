//! Caches and renews a pipeline's bearer token (AUTH-12).

use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use table_core::{Clock, Error, Result};

use crate::credential::{AccessToken, TokenProvider};

/// The time between a token's renewal and its expiry.
const EARLY: TimeDelta = TimeDelta::minutes(5);
/// The delay between a failed renewal and the next attempt, while the current token is valid.
const PAUSE: TimeDelta = TimeDelta::seconds(10);

/// The cached token. At most one renewal runs at a time.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    state: Mutex<State>,
    /// Held while the token is being renewed.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    kept: Option<AccessToken>,
    /// The number of completed renewals, including failed ones.
    ended: u64,
    /// The error and the time of the last renewal, if it failed.
    failed: Option<(Error, DateTime<Utc>)>,
}

impl State {
    /// Returns the cached token if it remains valid for at least `rest`.
    fn valid(&self, now: DateTime<Utc>, rest: TimeDelta) -> Option<String> {
        self.kept.as_ref().filter(|token| now + rest < token.expires_on).map(|token| token.secret.clone())
    }
}

impl Tokens {
    /// Returns the cached token, or a new one if the cached token expires within five minutes.
    ///
    /// As long as the cached token is valid, it is used during a renewal and after a failed one. Without a valid token, all callers wait for the same
    /// renewal, and receive its error if it fails.
    pub(crate) async fn token(
        &self,
        provider: &dyn TokenProvider,
        scope: &str,
        clock: &Clock,
    ) -> Result<String> {
        let (valid, ended) = {
            let (state, now) = (self.state(), clock.instant());
            if let Some(secret) = state.valid(now, EARLY) {
                return Ok(secret);
            }
            let valid = state.valid(now, TimeDelta::zero());
            let is_early = state.failed.as_ref().is_some_and(|(_, at)| now < *at + PAUSE);
            if let Some(secret) = valid.as_ref().filter(|_| is_early) {
                return Ok(secret.clone());
            }
            (valid, state.ended)
        };
        let _turn = match (valid, self.turn.try_lock()) {
            (_, Ok(turn)) => turn,
            (Some(secret), Err(_)) => return Ok(secret),
            (None, Err(_)) => self.turn.lock().await,
        };
        {
            let state = self.state();
            if let Some(secret) = state.valid(clock.instant(), EARLY) {
                return Ok(secret);
            }
            if let Some((error, _)) = state.failed.as_ref().filter(|_| state.ended != ended) {
                return state.valid(clock.instant(), TimeDelta::zero()).ok_or_else(|| error.clone());
            }
        }
        let renewed = provider.token(scope).await;
        let (mut state, now) = (self.state(), clock.instant());
        state.ended += 1;
        match renewed {
            Ok(token) => {
                state.failed = None;
                Ok(state.kept.insert(token).secret.clone())
            }
            Err(error) => {
                state.failed = Some((error.clone(), now));
                let valid = state.valid(now, TimeDelta::zero());
                if valid.is_some() {
                    tracing::warn!(target: "table_azure", %error, "the token was not renewed, it is used until it expires");
                }
                valid.ok_or(error)
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use table_core::ErrorCode;
    use tokio::sync::Semaphore;

    use super::*;
    use crate::credential::TokenFuture;

    /// A mock token provider whose calls wait for a permit, and fail if `fails` is set. Its tokens are valid for an hour.
    #[derive(Debug)]
    struct Provider {
        state: Mutex<(usize, bool)>,
        permits: Semaphore,
        now: Arc<Mutex<DateTime<Utc>>>,
    }

    impl Provider {
        fn fails(&self, fails: bool) {
            self.state.lock().unwrap().1 = fails;
        }

        fn requests(&self) -> usize {
            self.state.lock().unwrap().0
        }
    }

    impl TokenProvider for Provider {
        fn token<'a>(&'a self, _scope: &'a str) -> TokenFuture<'a> {
            Box::pin(async {
                let (number, fails) = {
                    let mut state = self.state.lock().unwrap();
                    state.0 += 1;
                    *state
                };
                self.permits.acquire().await.unwrap().forget();
                if fails {
                    return Err(Error::new(ErrorCode::AuthenticationFailed, "no token"));
                }
                let expires_on = *self.now.lock().unwrap() + TimeDelta::minutes(60);
                Ok(AccessToken { secret: format!("token{number}"), expires_on })
            })
        }
    }

    struct World {
        provider: Arc<Provider>,
        tokens: Arc<Tokens>,
        clock: Clock,
    }

    impl World {
        fn new() -> Self {
            let now = Arc::new(Mutex::new("2026-11-20T08:00:00Z".parse().unwrap()));
            let (own, permits) = (Arc::clone(&now), Semaphore::new(0));
            Self {
                provider: Arc::new(Provider { state: Mutex::default(), permits, now }),
                tokens: Arc::default(),
                clock: Clock::of_instants(move || *own.lock().unwrap()),
            }
        }

        fn pass(&self, time: TimeDelta) {
            *self.provider.now.lock().unwrap() += time;
        }

        /// Starts a task that requests the token, and returns it once the task waits or has completed.
        async fn ask(&self) -> tokio::task::JoinHandle<Result<String>> {
            let (provider, tokens, clock) =
                (Arc::clone(&self.provider), Arc::clone(&self.tokens), self.clock.clone());
            let task = tokio::spawn(async move { tokens.token(&*provider, "scope", &clock).await });
            for _ in 0..4 {
                tokio::task::yield_now().await;
            }
            task
        }
    }

    #[tokio::test]
    async fn auth_12_a_valid_token_is_used_while_its_renewal_waits_or_fails() {
        let world = World::new();
        world.provider.permits.add_permits(1);
        assert_eq!(world.ask().await.await.unwrap().unwrap(), "token1");
        world.provider.fails(true);
        world.pass(TimeDelta::minutes(56));
        let renewing = world.ask().await;
        for _ in 0..3 {
            assert_eq!(
                world.ask().await.await.unwrap().unwrap(),
                "token1",
                "another caller renews the token"
            );
        }
        world.provider.permits.add_permits(1);
        assert_eq!(renewing.await.unwrap().unwrap(), "token1", "the renewal failed");
        // The next renewal is not tried at once.
        assert_eq!(world.ask().await.await.unwrap().unwrap(), "token1");
        assert_eq!(world.provider.requests(), 2);
        world.pass(TimeDelta::seconds(11));
        world.provider.fails(false);
        world.provider.permits.add_permits(1);
        assert_eq!(world.ask().await.await.unwrap().unwrap(), "token3");
        assert_eq!(world.ask().await.await.unwrap().unwrap(), "token3");
        world.provider.fails(true);
        world.pass(TimeDelta::minutes(60));
        world.provider.permits.add_permits(1);
        assert!(world.ask().await.await.unwrap().is_err(), "an expired token is not used");
    }

    #[tokio::test]
    async fn auth_12_callers_without_a_token_wait_for_one_request() {
        let world = World::new();
        for fails in [true, false] {
            let before = world.provider.requests();
            world.provider.fails(fails);
            let mut callers = Vec::new();
            for _ in 0..5 {
                callers.push(world.ask().await);
            }
            world.provider.permits.add_permits(1);
            for caller in callers {
                assert_eq!(caller.await.unwrap().is_err(), fails);
            }
            assert_eq!(world.provider.requests() - before, 1);
        }
    }

    #[tokio::test]
    async fn auth_12_a_caller_that_is_cancelled_leaves_the_renewal_to_the_next() {
        let world = World::new();
        let first = world.ask().await;
        let second = world.ask().await;
        first.abort();
        world.provider.permits.add_permits(1);
        assert_eq!(second.await.unwrap().unwrap(), "token2");
    }
}
