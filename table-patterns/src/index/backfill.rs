//! Builds a new index over existing rows: online, resumable and rate-limited.

use std::num::NonZeroU32;

use table_core::entity::Entity;
use table_core::index::Index;
use table_core::schema::IndexSchema;
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::entities::{Entities, StepRecorder};
use crate::fence::Fence;
use crate::index::changes::index_of;
use crate::index::check::IndexReport;
use crate::index::fault::IndexFault;
use crate::index::finding::FindingKind;
use crate::index::pace::Pacer;
use crate::index::pass::Pass;
use crate::index::state::{IndexState, is_declared_by, is_stored, load, note, noted};
use crate::index::sweep::{Phase, Sweep};

/// The progress of a backfill, reported after each page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackfillProgress {
    /// The current phase of the backfill.
    pub phase: Phase,
    /// The number of entities and index rows that this run has processed.
    pub scanned: u64,
    /// The number of index rows that this run has written.
    pub written: u64,
}

/// A builder for the backfill of one index.
///
/// - Online: writers continue, and already maintain the index while it is built. An entity's missing index row is written in one transaction with the entity,
///   which changes the entity's `ETag`. A transaction contains as many entities in the partition as fit in 100 operations and 4 MiB. Sixteen transactions run
///   concurrently, so they can share disk syncs.
/// - Rolling updates: programs built from an older release may continue to write until the pass over the rows begins. They record sightings (rows with the
///   current time) with the stored schema. The pass begins an hour after the first run or the last sighting, whichever is later, by the store's clock. By then,
///   no request from an older program can still be in flight. A run before that time returns immediately, with [`retry_after`](IndexReport::retry_after). Once
///   the pass begins, older programs are refused. If no older program is running, call [`assume_no_older_programs`](Self::assume_no_older_programs). Writers
///   that never opened their table must be stopped first.
/// - Resumable: the position is recorded with the stored schema after each page. The next run, in any process, continues from it.
/// - When the backfill completes, the index is *ready*. Two entities with the same value in a unique index leave it *building*: the error contains one entity's
///   key and the index entry's key. The run that reaches the end returns the error, even if an earlier run found the entities. A later run starts from the
///   beginning.
///
/// ```
/// # use table_core::{Engine, TableStoreExt};
/// # use table_patterns::EntityStore;
/// # use table_patterns::index::IndexState;
/// # mod v1 {
/// #     #[derive(table_core::Entity)]
/// #     #[entity(table = "Company")]
/// #     #[partition_key(department)]
/// #     #[row_key("empid_", id)]
/// #     pub struct Employee { pub department: String, #[digits(6)] pub id: u32, pub email: String }
/// # }
/// # #[derive(table_core::Entity, Debug, Clone, PartialEq)]
/// # #[entity(table = "Company")]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # #[index(ByEmail, unique, row_key("email_", email))]
/// # pub struct Employee { pub department: String, #[digits(6)] pub id: u32, pub email: String }
/// # pollster::block_on(async {
/// # let store = Engine::in_memory();
/// # let old = store.table::<v1::Employee>().create_if_missing().await?; // without the index
/// # old.insert(&v1::Employee { department: "Sales".into(), id: 223, email: "ada@contoso.com".into() }).await?;
/// let employees = store.entities::<Employee>().create_if_missing().await?; // with the new index, over old rows
/// assert_eq!(employees.states().await?, [("ByEmail", IndexState::Building)]);
/// let error = employees.get(Employee::by_email("Sales", "ada@contoso.com")).await.unwrap_err();
/// assert_eq!(error.code(), table_core::ErrorCode::IndexNotReady);
///
/// let built = employees.backfill::<EmployeeByEmail>().assume_no_older_programs().run().await?;
/// assert_eq!(built.repaired, 1);
/// assert!(employees.get(Employee::by_email("Sales", "ada@contoso.com")).await?.is_some());
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a backfill does nothing until it is run"]
pub struct Backfill<'a, E, S, O> {
    table: &'a Entities<E, S, O>,
    index: &'static IndexSchema,
    per_second: Option<NonZeroU32>,
    page: Option<usize>,
    has_older: bool,
    progress: Option<Box<dyn FnMut(BackfillProgress) + Send + 'a>>,
}

impl<E, S: std::fmt::Debug, O: std::fmt::Debug> std::fmt::Debug for Backfill<'_, E, S, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backfill")
            .field("table", &self.table)
            .field("index", &self.index.name)
            .field("per_second", &self.per_second)
            .finish_non_exhaustive()
    }
}

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Creates the backfill of an index. If the index is ready, running the backfill does nothing.
    pub fn backfill<I: Index<Entity = E>>(&self) -> Backfill<'_, E, S, O> {
        Backfill {
            table: self,
            index: I::SCHEMA,
            per_second: None,
            page: None,
            has_older: true,
            progress: None,
        }
    }
}

impl<'a, E: Entity, S: TableStore, O: StepRecorder> Backfill<'a, E, S, O> {
    /// Limits the average number of entities that a run processes per second. A burst may contain one second's allowance.
    pub fn per_second(self, entities: NonZeroU32) -> Self {
        Self { per_second: Some(entities), ..self }
    }

    /// Sets the number of entities per page, 1 to 1,000; 1,000 by default. The position is recorded after each page. A transaction never contains entities from
    /// more than one page.
    pub fn page(self, entities: usize) -> Self {
        Self { page: Some(entities), ..self }
    }

    /// Declares that no program with an older schema is running or has requests in flight: for example, because a single process uses the store, or because the
    /// older programs were stopped. As a result, the backfill begins immediately, and older programs are refused. The run returns a report with
    /// [`retry_after`](IndexReport::retry_after) only if another program changes the stored schema at the same time.
    pub fn assume_no_older_programs(self) -> Self {
        Self { has_older: false, ..self }
    }

    /// Sets a function that is called with the progress after each page.
    pub fn on_progress(self, progress: impl FnMut(BackfillProgress) + Send + 'a) -> Self {
        Self { progress: Some(Box::new(progress)), ..self }
    }

    /// Builds the index, or continues to build it.
    /// If older programs may still write, builds nothing and returns a report with [`retry_after`](IndexReport::retry_after).
    ///
    /// # Errors
    /// - `UniqueViolation` after the last page if entities share a value of a unique index, and `IndexListFull` (PAT-IX-4) if a list is too
    ///   small for its entities. The index then stays *building*.
    /// - A permanent error caused by an index row or another entity, such as a list blob that cannot be read. The index stays *building*, and the next run
    ///   starts from the beginning.
    /// - `IndexNotReady` if the stored schema does not contain the index.
    /// - `SchemaMismatch` if the stored schema declares the index differently, or if another program restarts the backfill during the run, by storing a
    ///   schema that declares the index differently or with [`rebuild`](Entities::rebuild).
    /// - Any other error from the store: run the backfill again to continue.
    ///
    /// An entity that cannot be read, or whose value the index's keys cannot contain, is reported as a [finding](FindingKind::BadEntity), even if pages of the
    /// store [omit](table_core::query::Page::skipped) it. It does not stop the backfill, because the index could not contain it in any case, and a unique index
    /// does not reserve its value. The run that completes the index also [counts](IndexReport::skipped) the entities that earlier runs found,
    /// each of them once. A [check](Entities::check) lists all of them, and its repair writes their entries once they have been corrected.
    pub async fn run(mut self) -> Result<IndexReport> {
        let mut report = IndexReport::default();
        let layout = load(&self.table.table, self.table.index_states()).await?;
        let note = note(self.index.name);
        let Some(index) = index_of::<E>(self.index) else { return Ok(report) };
        if !is_stored(&layout, self.index.name) {
            return Err(Error::of(IndexFault::NotStored(self.index.name.to_owned())));
        }
        if noted::<E>(&layout, self.index.name) != IndexState::Building && !layout.pending.contains(&note) {
            return Ok(report);
        }
        if !is_declared_by::<E>(&layout, self.index.name) {
            return Err(Error::of(IndexFault::DeclaredDifferently(self.index.name.to_owned())));
        }
        let run = match self.table.pass_fence::<Pass>(&layout, &note, self.has_older).await? {
            Fence::Passed(run) => run,
            Fence::Waits(time) => return Ok(IndexReport { retry_after: Some(time), ..report }),
        };
        let sweep = Sweep { top: self.page, ..Sweep::new(self.table, index, true) };
        let mut pacer = Pacer::new(self.table.retry.runtime().clone(), self.per_second);
        let mut pass = run.start.clone();
        report.skipped = pass.aside;
        let mut duplicate = None;
        let is_whole = loop {
            let swept = sweep.page(pass.next.phase, &pass.next.position, &mut pacer).await?;
            let aside = swept.aside();
            report.scanned += swept.items;
            report.skipped += swept.skipped;
            let is_duplicate = |kind| kind == FindingKind::Duplicate;
            duplicate =
                duplicate.or(swept.findings.iter().find(|finding| is_duplicate(finding.kind)).cloned());
            report.add(swept.findings);
            if let Some(progress) = &mut self.progress {
                let (phase, scanned, written) = (pass.next.phase, report.scanned, report.repaired);
                progress(BackfillProgress { phase, scanned, written });
            }
            if swept.is_restart {
                pass = Pass::default();
                report.read_again(pass.aside);
                continue;
            }
            let has_failed = duplicate.is_some() || sweep.blocked.get().is_some();
            let is_second = pass.failed.as_ref() == Some(&pass.next);
            if has_failed && is_second {
                break false;
            }
            if has_failed {
                pass.failed.get_or_insert_with(|| pass.next.clone());
            } else if is_second {
                pass.failed = None;
            }
            if pass.failed.is_none() {
                pass.aside += aside;
            }
            pass.next = match (pass.next.after(swept.next), &pass.failed) {
                (Some(next), _) => next,
                (None, None) => break true,
                (None, Some(_)) if has_failed => break false,
                // IMPORTANT: an earlier run found the failure, but was interrupted before it could return the error. To obtain the error, this run processes
                // the page again.
                (None, Some(failed)) => {
                    report.read_again(pass.aside);
                    failed.clone()
                }
            };
            if !run.record(self.table, &pass).await? {
                return Err(self.superseded());
            }
        };
        let is_current = if is_whole {
            run.complete(self.table).await?
        } else {
            run.record(self.table, &Pass::default()).await?
        };
        if !is_current {
            return Err(self.superseded());
        }
        match duplicate {
            None => sweep.blocked.into_inner().map_or(Ok(report), Err),
            Some(finding) => {
                let shown = |key: &table_core::EntityKey| key.to_string();
                let owner = finding.owner.as_ref().map(shown).unwrap_or_default();
                Err(Error::of(IndexFault::Shared { index: self.index.name, owner })
                    .with_key(finding.at.partition_key.as_str(), finding.at.row_key.as_str()))
            }
        }
    }
}

impl<E: Entity, S: TableStore, O: StepRecorder> Backfill<'_, E, S, O> {
    fn superseded(&self) -> Error {
        Error::of(IndexFault::OtherPass(self.index.name.to_owned()))
    }
}
