//! Caches and renews a pipeline's bearer token (AUTH-12).

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use table_core::{Clock, Error, Result};
use tokio::sync::watch;

use crate::credential::{AccessToken, TokenProvider};
use crate::http::fault::HttpFault;

/// A token is renewed this long before it expires.
const EARLY: TimeDelta = TimeDelta::minutes(5);
/// The minimum interval between renewals while the current token is valid. It limits the load on a provider whose tokens expire within [`EARLY`].
const PAUSE: TimeDelta = TimeDelta::seconds(10);

/// The cached bearer token, shared by all clones. At most one renewal runs at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    kept: Option<AccessToken>,
    /// Receives the result of the last renewal. Once its sender is dropped, the renewal has ended.
    renewal: Option<watch::Receiver<Option<Result<String>>>>,
    /// The time at which the last renewal ended, whether it succeeded or failed.
    renewed: Option<DateTime<Utc>>,
}

impl State {
    /// Returns the cached token if it is still valid for longer than `rest`.
    fn valid(&self, now: DateTime<Utc>, rest: TimeDelta) -> Option<String> {
        self.kept.as_ref().filter(|token| now + rest < token.expires_on).map(|token| token.secret.clone())
    }
}

/// A token provider and its call parameters.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) provider: Arc<dyn TokenProvider>,
    pub(crate) scope: &'static str,
    pub(crate) clock: Clock,
    /// The time limit for a renewal.
    pub(crate) limit: Duration,
}

impl Tokens {
    /// Returns the cached token, or requests a new one. `start` spawns the renewal task.
    ///
    /// A token is renewed five minutes before it expires. While the old token is valid, callers do not wait for the renewal, and renewals are at least ten
    /// seconds apart. Without a valid token, all callers wait for the same renewal, and receive its error if it fails. The renewal continues even if a caller's
    /// future is dropped.
    pub(crate) async fn token(
        &self,
        source: &Source,
        start: impl FnOnce(Renewal) -> Result<()>,
    ) -> Result<String> {
        let mut renewal = {
            let (mut state, now) = (self.state(), source.clock.instant());
            if let Some(secret) = state.valid(now, EARLY) {
                return Ok(secret);
            }
            let valid = state.valid(now, TimeDelta::zero());
            // If the clock is set back, `now` is outside the range, which ends the pause.
            let pauses = state.renewed.is_some_and(|at| (at..at + PAUSE).contains(&now));
            let running = state.renewal.clone().filter(|renewal| renewal.has_changed().is_ok());
            let renewal = match running {
                Some(running) => running,
                None if valid.is_some() && pauses => return valid.ok_or_else(no_token),
                None => {
                    let (sender, renewal) = watch::channel(None);
                    start(Box::pin(self.clone().renew(source.clone(), sender)))?;
                    state.renewal.insert(renewal).clone()
                }
            };
            if let Some(secret) = valid {
                return Ok(secret);
            }
            renewal
        };
        let renewed = renewal.wait_for(Option::is_some).await.map_err(|_| no_token())?;
        renewed.clone().unwrap_or_else(|| Err(no_token()))
    }

    /// Removes the token that the service rejected from the cache. Does nothing if the cached token differs from `secret`.
    pub(crate) fn discard(&self, secret: &str) {
        let mut state = self.state();
        state.kept.take_if(|token| token.secret == secret);
    }

    async fn renew(self, source: Source, sender: watch::Sender<Option<Result<String>>>) {
        let renewed = tokio::time::timeout(source.limit, source.provider.token(source.scope)).await;
        let renewed = renewed.unwrap_or_else(|_| Err(no_token()));
        let (mut state, now) = (self.state(), source.clock.instant());
        state.renewed = Some(now);
        let renewed = match renewed {
            Ok(token) => Ok(state.kept.insert(token).secret.clone()),
            Err(error) => {
                if state.valid(now, TimeDelta::zero()).is_some() {
                    tracing::warn!(target: "table_azure", %error, "the token was not renewed, it is used until it expires");
                }
                Err(error)
            }
        };
        sender.send_replace(Some(renewed));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task that renews a token.
pub(crate) type Renewal = Pin<Box<dyn Future<Output = ()> + Send>>;

fn no_token() -> Error {
    Error::of(HttpFault::NoToken)
}

#[cfg(test)]
mod tests {
    use table_core::ErrorCode;
    use tokio::sync::Semaphore;

    use super::*;
    use crate::credential::TokenFuture;

    /// A mock token provider. Each call waits for a permit, and fails if `fails` was set.
    #[derive(Debug)]
    struct Provider {
        state: Mutex<(usize, bool)>,
        permits: Semaphore,
        /// The lifetime of the tokens it returns.
        life: TimeDelta,
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
                let expires_on = *self.now.lock().unwrap() + self.life;
                Ok(AccessToken { secret: format!("token{number}"), expires_on })
            })
        }
    }

    const LIMIT: Duration = Duration::from_secs(180);

    struct World {
        provider: Arc<Provider>,
        tokens: Tokens,
        clock: Clock,
    }

    impl World {
        fn new() -> Self {
            Self::with_life(TimeDelta::hours(1))
        }

        fn with_life(life: TimeDelta) -> Self {
            let now = Arc::new(Mutex::new("2026-11-20T08:00:00Z".parse().unwrap()));
            let (own, permits) = (Arc::clone(&now), Semaphore::new(0));
            Self {
                provider: Arc::new(Provider { state: Mutex::default(), permits, life, now }),
                tokens: Tokens::default(),
                clock: Clock::of_instants(move || *own.lock().unwrap()),
            }
        }

        fn pass(&self, time: TimeDelta) {
            *self.provider.now.lock().unwrap() += time;
        }

        /// Spawns a task that requests the token. Returns the task once it is waiting or has completed.
        async fn ask(&self) -> tokio::task::JoinHandle<Result<String>> {
            let (tokens, clock) = (self.tokens.clone(), self.clock.clone());
            let provider: Arc<dyn TokenProvider> = Arc::<Provider>::clone(&self.provider);
            let source = Source { provider, scope: "scope", clock, limit: LIMIT };
            let start = |renewal| {
                tokio::spawn(renewal);
                Ok(())
            };
            let task = tokio::spawn(async move { tokens.token(&source, start).await });
            for _ in 0..8 {
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
        for _ in 0..3 {
            let caller = world.ask().await;
            assert!(caller.is_finished(), "no caller waits for the renewal");
            assert_eq!(caller.await.unwrap().unwrap(), "token1");
        }
        world.provider.permits.add_permits(1);
        // The renewal fails, and is not repeated immediately.
        for _ in 0..2 {
            assert_eq!(world.ask().await.await.unwrap().unwrap(), "token1");
        }
        assert_eq!(world.provider.requests(), 2);
        world.pass(TimeDelta::seconds(11));
        world.provider.fails(false);
        world.provider.permits.add_permits(1);
        assert_eq!(world.ask().await.await.unwrap().unwrap(), "token1");
        assert_eq!(world.ask().await.await.unwrap().unwrap(), "token3");
        world.provider.fails(true);
        world.pass(TimeDelta::minutes(60));
        world.provider.permits.add_permits(1);
        assert!(world.ask().await.await.unwrap().is_err(), "an expired token is not used");
    }

    #[tokio::test]
    async fn auth_12_a_token_that_expires_early_is_not_renewed_for_each_request() {
        let world = World::with_life(TimeDelta::minutes(4));
        world.provider.permits.add_permits(100);
        for number in [1, 2] {
            for _ in 0..20 {
                assert!(world.ask().await.await.unwrap().is_ok());
            }
            assert_eq!(world.provider.requests(), number);
            world.pass(TimeDelta::seconds(10));
        }
        // A rejected token is not used during the pause.
        assert_eq!(world.ask().await.await.unwrap().unwrap(), "token2");
        world.tokens.discard("token3");
        assert_eq!(world.ask().await.await.unwrap().unwrap(), "token4");
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
    async fn auth_12_a_caller_that_is_cancelled_does_not_cancel_the_renewal() {
        let world = World::new();
        let first = world.ask().await;
        first.abort();
        let second = world.ask().await;
        world.provider.permits.add_permits(1);
        assert_eq!(second.await.unwrap().unwrap(), "token1");
        assert_eq!(world.provider.requests(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn auth_12_a_renewal_without_end_is_abandoned_after_its_time_limit() {
        let world = World::new();
        let first = world.ask().await;
        assert!(first.await.unwrap().is_err());
        world.provider.permits.add_permits(1);
        assert_eq!(world.ask().await.await.unwrap().unwrap(), "token2");
    }

    #[tokio::test]
    async fn auth_12_only_the_refused_token_is_discarded() {
        let world = World::new();
        for number in [1, 2] {
            world.provider.permits.add_permits(1);
            assert_eq!(world.ask().await.await.unwrap().unwrap(), format!("token{number}"));
            // The rejection of an earlier token may arrive late.
            world.tokens.discard("token0");
            assert_eq!(world.ask().await.await.unwrap().unwrap(), format!("token{number}"));
            world.tokens.discard(&format!("token{number}"));
        }
        assert_eq!(world.provider.requests(), 2);
    }
}
