//! Backfill for copies that a later release declares: adds the references and copies that older programs did not maintain.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use table_core::Result;
use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::mixed::{RowOwner, classify_key, classify_row};
use table_core::query::{EntityRef, KeyRange, Query, Select, TextRange};
use table_core::selection::{Scan, Selection};
use table_core::store::TableStore;

use crate::copies::completed::Completed;
use crate::copies::reference::{REFERENCE_PREFIX, source_in};
use crate::copies::relations::Copying;
use crate::copies::report::CopiesReport;
use crate::entities::{Entities, StepRecorder};
use crate::failure::Failure;
use crate::fence::{self, Fence};
use crate::omitted::Unreadable;
use crate::panicked::caught_in;
use crate::position::{PageAt, Position};
use crate::requests::{self, CONCURRENCY};

/// The maximum number of failed entities in a report. A page has at most this many entities.
const LISTED: usize = 1_000;

/// The side of a relation that one pass of the backfill completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// The sources: each holder with a stored reference is updated, or cleared if the source no longer exists.
    Sources,
    /// The holders: each holder's references are recorded, and its copies are set.
    Holders,
}

impl Side {
    /// Parses the name of a pending part in the stored schema, such as `keeps copied_by Manager` or `keeps copies_from Manager`.
    fn of_note(note: &str) -> Option<Self> {
        match note.strip_prefix("keeps ")?.split_once(' ')?.0 {
            "copied_by" => Some(Self::Sources),
            "copies_from" => Some(Self::Holders),
            _ => None,
        }
    }
}

/// The resume position of a pass, as recorded in the stored schema.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Reached {
    /// `true` if a run has found failed entities.
    is_careful: bool,
    position: Position,
    /// The number of omitted rows before the position.
    skipped: u64,
}

/// The state of a pass after one page.
enum AfterPage {
    /// The position of the next page; `None` after the last page.
    Next(Option<Position>),
    /// The report must be returned before the page can be processed. The next run processes the page.
    Full,
}

/// A builder for the backfill of one entity type's copies, as a source and as a holder. Created by
/// [`Entities::backfill_copies`](crate::Entities::backfill_copies).
///
/// Each of the two types in a relation has its own backfill; run both, in any order. The backfill of the sources updates all known holders. The
/// backfill of the holders records their references and sets their copies. Once both are complete, the copies reflect every write by an older program.
///
/// - Online: writers continue. Up to sixteen entities are processed concurrently. An entity is written only if its version has not changed in the
///   meantime.
/// - Rolling updates: as in the backfill of an [index](crate::index::Backfill). If older programs may have requests in flight, a run returns
///   immediately, with [`retry_after`](CopiesReport::retry_after).
/// - One relation at a time: a type with several new relations needs one pass for each.
/// - Resumable: the position is recorded with the stored schema after each page. After a page with failed entities, a run records no further position until it
///   ends. If it is interrupted, the next runs continue at that page, and each of them ends after a page with failed entities.
///
/// ```
/// use table_patterns::copies::CopiesReport;
/// use table_patterns::entities::StepRecorder;
/// use table_patterns::{Entities, Entity, Result, TableStore};
///
/// /// Runs the backfill, which a job calls until it returns `true`. The copies of the entities in `failed` are missing until these are written again.
/// async fn build<E, S, O>(entities: &Entities<E, S, O>) -> Result<bool>
/// where
///     E: Entity,
///     S: TableStore + Clone + 'static,
///     O: StepRecorder,
/// {
///     let CopiesReport { retry_after, failed, .. } = entities.backfill_copies().run().await?;
///     for failure in &failed {
///         eprintln!("{failure:?}");
///     }
///     Ok(retry_after.is_none())
/// }
/// ```
#[must_use = "a backfill does nothing until it is run"]
pub struct CopiesBackfill<'a, E: 'static, S, O> {
    handle: &'a Entities<E, S, O>,
    page: Option<usize>,
    has_older: bool,
}

impl<E: Entity, S: TableStore + Clone + 'static, O: StepRecorder> Entities<E, S, O> {
    /// Creates the backfill for an entity type's copies, both as a holder and as a source. If the copies are complete, running it does nothing.
    pub fn backfill_copies(&self) -> CopiesBackfill<'_, E, S, O> {
        CopiesBackfill { handle: self, page: None, has_older: true }
    }
}

impl<E: Entity, S: TableStore + Clone + 'static, O: StepRecorder> CopiesBackfill<'_, E, S, O> {
    /// Sets the number of rows per page, 1,000 by default. The position is recorded after each page.
    pub const fn page(self, rows: usize) -> Self {
        Self { page: Some(rows), ..self }
    }

    /// Declares that no program with an older schema is running or has requests in flight. The backfill then begins immediately, and older programs
    /// are refused.
    pub const fn assume_no_older_programs(self) -> Self {
        Self { has_older: false, ..self }
    }

    /// Runs or continues the backfill.
    ///
    /// # Errors
    /// - `ResourceNotFound` if the table was never opened with `create_if_missing`.
    /// - Any store outage; run the backfill again to continue.
    pub async fn run(self) -> Result<CopiesReport> {
        let (table, mut report) = (&self.handle.table, CopiesReport::default());
        let layout = table.update_schema_record(|_| ()).await?;
        let Some(copying) = Copying::of(self.handle) else { return Ok(report) };
        // A note that is not in this program's schema belongs to a newer version of the program.
        let is_own =
            |note: &&String| E::SCHEMA.keeps.iter().any(|kept| note.strip_prefix("keeps ") == Some(*kept));
        let own = layout.pending.iter().filter(is_own);
        let mut passes = own.filter_map(|note| Some((note, Side::of_note(note)?))).peekable();
        while let Some((note, side)) = passes.next() {
            let run = match self.handle.pass_fence::<Reached>(&layout, note, self.has_older).await? {
                Fence::Passed(run) => run,
                Fence::Waits(time) => {
                    report.run_again(time);
                    continue;
                }
            };
            let Reached { is_careful, position, skipped } = run.start.clone();
            let (mut next, mut is_noted, mut is_full) = (Some(position), is_careful, false);
            let mut completed = Completed::new(table.store().capabilities().ordered, skipped);
            let skipped_before = report.skipped;
            report.skipped += skipped;
            while let Some(position) = next.take().filter(|_| !is_full) {
                self.handle.admit(false).await?;
                let (page, skipped) = ((self.page, is_careful), completed.skipped);
                match copying.complete_page(side, &position, page, &mut completed, &mut report).await? {
                    AfterPage::Next(following) => next = following,
                    AfterPage::Full => (next, is_full) = (Some(position.clone()), true),
                }
                report.skipped = skipped_before + completed.skipped;
                let has_failed = !report.failed.is_empty();
                // IMPORTANT: a failure is reported only when the run ends. Until then, the recorded position stays before the page. If this run is interrupted,
                // the next run finds the failure again.
                let reached = match &next {
                    Some(_) if has_failed && !is_full && is_noted => continue,
                    Some(_) if has_failed && !is_full => {
                        is_noted = true;
                        Some(Reached { is_careful: true, position, skipped })
                    }
                    Some(next) => {
                        Some(Reached { is_careful, position: next.clone(), skipped: completed.skipped })
                    }
                    None => None,
                };
                let recorded = match &reached {
                    Some(reached) => run.record(self.handle, reached).await,
                    None => run.complete(self.handle).await,
                };
                let is_current = match recorded {
                    // IMPORTANT: the position may have been recorded even though the write failed. The next run would then not report the failures again, so
                    // this run returns its report instead of the error.
                    Err(_) if has_failed => {
                        report.run_again(fence::AGAIN);
                        return Ok(report);
                    }
                    recorded => recorded?,
                };
                if !is_current {
                    report.run_again(fence::AGAIN);
                    break;
                }
            }
            // IMPORTANT: return the report now. An error in a later pass would lose it, and the next run does not repeat this pass.
            if !report.failed.is_empty() {
                if is_full || passes.peek().is_some() {
                    report.run_again(Duration::ZERO);
                }
                return Ok(report);
            }
        }
        Ok(report)
    }
}

impl<E: Entity, S: TableStore + Clone + 'static, O: StepRecorder> Copying<'_, E, S, O> {
    /// Settles the copies of the entities on one page (makes them equal to their sources). If the report already contains failed entities and has no space for
    /// this page's failures, returns [`AfterPage::Full`]. In a careful pass, no entity is settled after a page with failed entities.
    async fn complete_page(
        &self,
        side: Side,
        position: &Position,
        (top, is_careful): (Option<usize>, bool),
        completed: &mut Completed,
        report: &mut CopiesReport,
    ) -> Result<AfterPage> {
        let table = &self.handle.table;
        let ranges = match side {
            Side::Sources => {
                vec![KeyRange { partition_key: TextRange::ALL, row_key: TextRange::prefix(REFERENCE_PREFIX) }]
            }
            Side::Holders => Selection::<E, Scan>::scan("to complete the copies").own_rows().into_ranges()?,
        };
        let keys = || Select::names(["PartitionKey", "RowKey"]);
        let select = if side == Side::Sources { keys() } else { Select::All };
        let query = |range| Query { top, select: select.clone(), ..Query::new(range) };
        let PageAt { page, unreadable, next, is_restart } =
            position.page((table.store(), table.name()?), &ranges, query).await?;
        if is_restart {
            // The pass starts again, because the table may have been recreated since these sources were completed.
            completed.clear();
        }
        let rows = page.rows.iter().chain(unreadable.iter().map(Unreadable::entity));
        let mut found = Self::found(side, rows)?;
        // No holder occurs on two pages, so only sources are tracked.
        if side == Side::Sources {
            completed.take_from(&mut found);
        }
        let has_failed = !report.failed.is_empty();
        if is_careful && has_failed && !found.is_empty() {
            return Ok(AfterPage::Full);
        }
        let mut failed = Vec::new();
        let settled = found.into_iter().map(|key| async move {
            let settle = async {
                match side {
                    Side::Sources => self.spread(&key, &[], None).await,
                    Side::Holders => self.hold_all(&key).await,
                }
            };
            let settled = caught_in("the code of the entity type", settle).await;
            (key, settled)
        });
        for (key, settled) in requests::all(settled, CONCURRENCY).await {
            report.scanned += 1;
            match settled {
                Ok(written) => report.written += u64::try_from(written).unwrap_or(u64::MAX),
                Err(error) if Failure::of(&error) == Failure::Lasting => failed.push((key, error)),
                Err(error) => return Err(error),
            }
        }
        if has_failed && report.failed.len() + failed.len() > LISTED {
            return Ok(AfterPage::Full);
        }
        completed.skipped += page.skipped;
        report.failed.append(&mut failed);
        Ok(AfterPage::Next(next))
    }

    /// Returns the keys of the entities to settle for one page. For [`Side::Sources`], these are the sources of the references on the page; for
    /// [`Side::Holders`], the holders on the page. Skips rows of other types.
    fn found<'r>(side: Side, rows: impl Iterator<Item = EntityRef<'r>>) -> Result<BTreeSet<EntityKey>> {
        // A row that cannot be classified is reported as an error when it is settled.
        let is_own =
            |belonging: Result<RowOwner>| belonging.map_or(true, |belonging| belonging == RowOwner::Own);
        let mut found = BTreeSet::new();
        for row in rows {
            let key = match side {
                Side::Sources => source_in(row.row_key)
                    .filter(|source| is_own(classify_key::<E>(row.partition_key, source))),
                Side::Holders => is_own(classify_row::<E>(row)).then_some(row.row_key),
            };
            found.extend(key.map(|row_key| EntityKey::new(row.partition_key, row_key)).transpose()?);
        }
        Ok(found)
    }

    /// Records a holder's references and sets its copies, in all relations. Returns the number of writes. A relation that cannot be settled does not block the
    /// other relations.
    ///
    /// # Errors
    /// Any store outage; the error for a relation that cannot be settled, after all others have been settled. An error that requires a newer program takes
    /// precedence.
    pub(super) async fn hold_all(&self, holder: &EntityKey) -> Result<usize> {
        let (mut written, mut failed) = (0, None);
        for held in self.relations.holds {
            match self.align(held, (holder, &[]), None).await {
                Ok(writes) => written += writes,
                Err(error) => Failure::postpone(&mut failed, error)?,
            }
        }
        failed.map_or(Ok(written), Err)
    }
}

debug_fields!([E, S: fmt::Debug, O: fmt::Debug] CopiesBackfill['_, E, S, O] { handle, .. });
