//! Transactions: read-modify-write closures over a unit. A closure runs again until all rows that it read are still current at commit time.

use std::collections::HashMap;

use table_core::entity::Entity;
use table_core::etag::ETag;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::retry::RetryLoop;
use table_core::store::TableStore;
use table_core::table::ReportedPartition;
use table_core::{Error, ErrorCode, Result};

use crate::entities::{Entities, Outcome, StepRecorder, Turn};
use crate::unit::UnitOfWork;
use crate::unit::committed::{Committed, Versions};
use crate::unit::contention::Contention;
use crate::unit::reservation::is_refusal;

/// A read-modify-write function over a unit. Unlike an async closure, an implementation can borrow its captures and still be `Send`.
pub(crate) trait Decide<S, O, T, X> {
    /// Runs the function on a new unit. May be called several times.
    fn decide(&mut self, unit: &mut UnitOfWork<S, O>) -> impl Future<Output = Result<T, X>>;
}

/// A wrapper that implements [`Decide`] for an async closure.
struct Closure<F>(F);

impl<S, O, T, X, F: AsyncFnMut(&mut UnitOfWork<S, O>) -> Result<T, X>> Decide<S, O, T, X> for Closure<F> {
    async fn decide(&mut self, unit: &mut UnitOfWork<S, O>) -> Result<T, X> {
        (self.0)(unit).await
    }
}

/// The state of one transaction across its attempts.
pub(super) struct Attempts<'a> {
    race: RetryLoop<'a>,
    /// The last attempt, if it was refused by the store.
    refused: Option<RefusedRun>,
    /// `true` once a group commit has been refused. The unit is then committed alone, so that an error is certain to come from this unit.
    pub(super) is_alone: bool,
    /// The time when the current attempt began.
    began: u64,
    pub(super) contention: Contention,
}

/// A refused attempt. If the next attempt equals it, the transaction itself causes the error: none of its dependencies has changed, and the closure has made
/// the same choice again, for example the same key for a new entity.
#[derive(PartialEq)]
struct RefusedRun {
    depends: Depends,
    /// The error code, and the row that caused the error.
    code: ErrorCode,
    row: Option<String>,
}

impl RefusedRun {
    fn new(depends: Depends, error: &Error) -> Self {
        Self { depends, code: error.code(), row: error.key().map(|(_, row)| row.to_owned()) }
    }
}

/// The versions on which an attempt depends: the versions of the rows that the unit has read, and the versions that its writes require. The required versions
/// are included because the closure may have read rows outside the unit.
type Depends = (HashMap<RowKey, Option<ETag>>, Vec<(RowKey, ETag)>);

/// The outcome of one attempt.
pub(super) enum Finished {
    Committed(Versions),
    /// The closure must run again. The transaction keeps its turn.
    Again(Option<Turn>),
}

impl<E: Entity, S: TableStore + Clone + 'static, O: StepRecorder> Entities<E, S, O> {
    /// Runs a read-modify-write closure with one [unit](crate::unit) on a partition, and commits the unit. The commit succeeds only if every entity that the
    /// closure [read](UnitOfWork::get) is still current, and every entity that it did not find is still absent. Otherwise, the closure runs again and reads the
    /// new rows. The number of attempts is bounded, with exponential backoff between them.
    ///
    /// The closure also runs again if another writer has already inserted the same entity or claimed the same unique value. If two consecutive runs fail
    /// because of the same row, and their dependencies are the same, the error is returned. If the closure writes nothing, nothing is committed, and the rows
    /// it read may be from different times.
    ///
    /// - Transactions on a partition through one handle and its clones take turns in arrival order and are committed in groups. A transaction reads the rows
    ///   that the transactions before it have written. The closure must not start another transaction on the same partition through the same handle.
    /// - Between processes, the first commit wins. After three lost attempts, a transaction reserves the partition by writing a special row. Transactions of
    ///   other processes wait for it. This prevents a process far from the store from being starved by processes close to it. Single-entity writes do not wait.
    /// - The closure may run several times, so its only effects must be writes through the unit.
    /// - In a task that can move between threads, as with `tokio::spawn`, the closure must own its captures. Write `async move |unit|` and move clones into it.
    ///   With borrowed captures, rustc does not accept the future as `Send`.
    /// - The caller chooses the error type. If the closure returns errors only through `?`, specify the type: `Ok::<_, Error>(value)`.
    ///
    /// ```
    /// # use table_patterns::{Engine, Entity, EntityStore};
    /// #[derive(Entity, Clone, Debug, PartialEq)]
    /// #[entity(table = "Bank")]
    /// #[partition_key(tenant)]
    /// #[row_key("account_", number)]
    /// struct Account { tenant: String, #[digits(6)] number: u32, cents: i64 }
    ///
    /// #[derive(Debug)]
    /// enum Refused { NoAccount, TooLittle, Store(table_patterns::Error) }
    /// impl From<table_patterns::Error> for Refused {
    ///     fn from(error: table_patterns::Error) -> Self {
    ///         Self::Store(error)
    ///     }
    /// }
    ///
    /// # pollster::block_on(async {
    /// let accounts = Engine::in_memory().entities::<Account>().create_if_missing().await?;
    /// for number in [1, 2] {
    ///     accounts.insert(&Account { tenant: "contoso".into(), number, cents: 100 }).await?;
    /// }
    /// let transfer = async |cents: i64| {
    ///     accounts.transaction(Account::partition("contoso"), async |unit| {
    ///         let from = unit.get(Account::key("contoso", 1)).await?.ok_or(Refused::NoAccount)?;
    ///         let to = unit.get(Account::key("contoso", 2)).await?.ok_or(Refused::NoAccount)?;
    ///         if from.cents < cents {
    ///             return Err(Refused::TooLittle);
    ///         }
    ///         unit.update(&from, |from| from.cents -= cents)?;
    ///         unit.update(&to, |to| to.cents += cents)?;
    ///         Ok(from.cents - cents)
    ///     }).await
    /// };
    /// assert_eq!(*transfer(70).await.expect("enough"), 30);
    /// assert!(matches!(transfer(70).await, Err(Refused::TooLittle)));
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// - The closure's error, unchanged. Nothing has been written.
    /// - `UpdateConditionNotSatisfied` (CON-3), converted to the closure's error type, if other writers committed first in all attempts allowed by the
    ///   [policy](Entities::with_retry).
    /// - Any error from [`UnitOfWork::commit`], converted to the closure's error type.
    ///
    /// After an [ambiguous](Error::is_ambiguous) error, read the entities before retrying.
    pub fn transaction<P: ReportedPartition<E>, T, X: From<Error>>(
        &self,
        partition: P,
        run: impl AsyncFnMut(&mut UnitOfWork<S, O>) -> Result<T, X>,
    ) -> P::Then<impl Future<Output = Result<Committed<T>, X>>> {
        let partition_key = partition.partition_key();
        P::then(async move { self.decide(partition_key?, Closure(run)).await })
    }

    /// Runs a transaction on the partition with the given key.
    pub(crate) async fn decide<T, X: From<Error>>(
        &self,
        partition_key: PartitionKey,
        mut run: impl Decide<S, O, T, X>,
    ) -> Result<Committed<T>, X> {
        let table = self.table().name()?;
        let race = self.retry().start("the rows that the transaction read");
        let contention = Contention::new(self.seen.partition(table, &partition_key));
        let mut attempts = Attempts { race, refused: None, is_alone: false, began: 0, contention };
        let decided = self.attempt(table, &partition_key, &mut run, &mut attempts).await;
        attempts.contention.end(self.table().store(), table, &partition_key).await;
        let (value, versions) = decided?;
        Ok(Committed { value, partition_key, versions, time: self.retry().runtime().now() })
    }

    /// Runs a transaction until it is committed or refused.
    async fn attempt<T, X: From<Error>>(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
        run: &mut impl Decide<S, O, T, X>,
        attempts: &mut Attempts<'_>,
    ) -> Result<(T, Versions), X> {
        let runtime = self.retry().runtime();
        let mut kept = None;
        loop {
            let turn = match kept.take() {
                Some(turn) => turn,
                None => self.turns.enter(table, partition_key, runtime).await,
            };
            if attempts.is_alone || turn.group().is_some_and(|group| group.is_nearly_full()) {
                turn.flush().await;
            }
            let mut unit = self.unit_in(partition_key.clone())?;
            unit.reads.group = turn.group();
            unit.rivals = Some(attempts.contention.rivals(&turn, runtime));
            attempts.began = runtime.now();
            let result = run.decide(&mut unit).await;
            if unit.reads.must_restart {
                turn.flush().await;
                kept = Some(turn);
                continue;
            }
            let value = match result {
                Ok(value) => value,
                Err(error) => {
                    if unit.is_settled(turn).await? {
                        return Err(error);
                    }
                    attempts.is_alone = true;
                    continue;
                }
            };
            match unit.finish(turn, attempts).await? {
                Finished::Committed(versions) => return Ok((value, versions)),
                Finished::Again(turn) => kept = turn,
            }
        }
    }
}

impl<S: TableStore + Clone + 'static, O: StepRecorder> UnitOfWork<S, O> {
    /// Waits until the rows read by the unit are committed. Returns `false` if that commit fails. A decision based on those rows is then invalid.
    async fn is_settled(&self, turn: Turn) -> Result<bool> {
        let Some(group) = self.reads.group.clone().filter(|_| self.reads.used_group) else { return Ok(true) };
        drop(turn);
        match group.outcome().await {
            Ok(_) => Ok(true),
            Err(error) if error.is_ambiguous() => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Commits the unit, either alone or in a group with earlier and later units.
    async fn finish(mut self, turn: Turn, attempts: &mut Attempts<'_>) -> Result<Finished> {
        if self.draft.planned().is_empty() {
            return Ok(if self.is_settled(turn).await? {
                Finished::Committed(Vec::new())
            } else {
                attempts.is_alone = true;
                Finished::Again(None)
            });
        }
        if self.prepare().await?.is_break() {
            turn.flush().await;
            return Ok(Finished::Again(Some(turn)));
        }
        let depends: Depends = (self.reads.versions(), self.draft.planned().required_versions());
        let refused = attempts.refused.take();
        let deleted = self.delete_reservation();
        let group = turn.group();
        // A transaction with a reservation keeps its turn until it ends. Otherwise, this process's next transactions would wait for a reservation that only the
        // group's commit deletes.
        let is_reserved = self.rivals.as_ref().is_some_and(|rivals| rivals.own.is_some());
        let is_contended = group.is_some() || turn.has_waiters();
        if is_contended
            && !is_reserved
            && !attempts.is_alone
            && !self.draft.is_pending()
            && self.reads.outdated.is_none()
            && let Some((operations, recorded)) = self.site().assume(self.draft.planned()).await?
            && let Some((group, joined)) = self.join(&turn, group.as_ref(), &operations)
        {
            drop(turn);
            return self.finish_in(&group, joined, recorded, attempts).await;
        }
        if group.is_some() {
            // The group must be committed first: the unit has read uncommitted rows of the group, or a member has sealed the group.
            turn.flush().await;
            return Ok(Finished::Again(Some(turn)));
        }
        let (is_race, error) = match self.commit_alone().await {
            Ok(Outcome::Committed(etags)) => {
                attempts.contention.won(self.rivals.as_ref(), deleted.as_ref());
                let keys = self.draft.planned().entities().iter().map(|operation| operation.row_key.clone());
                return Ok(Finished::Committed(self.written(keys.zip(etags))));
            }
            Ok(Outcome::Conflict(conflict, error)) => (conflict.is_race(), error),
            Err(error) => (false, error),
        };
        match error {
            error if error.is_ambiguous() => Err(error),
            error if error.rule() == Some("CON-3") => Err(error),
            // Another process has deleted the reservation because it was not held long enough, or the credential does not permit deleting it.
            error if deleted.is_some_and(|own| own.is_at(&error) || is_refusal(error.code())) => {
                attempts.contention.give_up(error);
                Ok(Finished::Again(Some(turn)))
            }
            // The decision may be based on stale rows, so the closure runs again. If two consecutive runs depend on the same versions and are refused because
            // of the same row, the unit itself causes the error, and the error is returned. A race is always retried, because only another writer can cause it.
            error if error.is_conflict() || error.code() == ErrorCode::UniqueViolation => {
                let run = RefusedRun::new(depends, &error);
                if !is_race && refused.as_ref() == Some(&run) {
                    return Err(error);
                }
                let lost = attempts.race.retry(error.clone()).await;
                lost.map_err(|error| attempts.contention.explained(error))?;
                let has_moved = is_race || refused.is_some_and(|before| before != run);
                Box::pin(self.lost(&mut attempts.contention, attempts.began, has_moved, &error)).await?;
                attempts.refused = Some(run).filter(|_| !is_race);
                Ok(Finished::Again(Some(turn)))
            }
            error => Err(error),
        }
    }

    /// Returns the new versions of the written entities. Conditions are omitted.
    pub(super) fn written(&self, versions: impl Iterator<Item = (RowKey, Option<ETag>)>) -> Versions {
        let of_acts = self.acts.iter().zip(versions);
        of_acts.filter(|(act, _)| act.verb.is_some()).map(|(_, version)| version).collect()
    }
}
