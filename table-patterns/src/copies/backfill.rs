//! Backfill for copies that a later release declares: adds the references and copies that older programs did not maintain.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::mixed::{RowOwner, classify_key, classify_row};
use table_core::query::{KeyRange, Page, Query, Select, TextRange};
use table_core::selection::{Scan, Selection};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::copies::completed::Completed;
use crate::copies::reference::{REFERENCE_PREFIX, source_in};
use crate::copies::relations::Copying;
use crate::entities::{Entities, StepRecorder};
use crate::failure::Failure;
use crate::fence::{self, Fence};
use crate::panicked::caught_in;
use crate::position::Position;
use crate::requests::{self, CONCURRENCY};

/// The maximum number of failed entities in a report.
const LISTED: usize = 1_000;

/// The result of a backfill of copies.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CopiesReport {
    /// The number of processed entities: sources with references, and holders.
    pub scanned: u64,
    /// The number of entities that were written.
    pub written: u64,
    /// The entities whose copies could not be updated, with their errors; at most 1,000. Correct the entities, then update their copies with
    /// [`settle_copies`](crate::Entities::settle_copies).
    pub failed: Vec<(EntityKey, Error)>,
    /// The delay before the next run, if the backfill is not complete: programs built from an older release may still have requests in flight, another pass has
    /// begun during this run, or the pass with the `failed` entities ended the run before the pass of another relation.
    pub retry_after: Option<Duration>,
}

impl CopiesReport {
    /// Records that another run is necessary after `delay`.
    fn run_again(&mut self, delay: Duration) {
        self.retry_after = Some(self.retry_after.map_or(delay, |known| known.max(delay)));
    }
}

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

/// Formats the position of a pass for the stored schema.
fn format_position(position: &Position) -> String {
    format!("range {position}")
}

fn parse_position(text: &str) -> Position {
    Position::read(text.split_once(' ').map_or("", |(_, position)| position))
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
/// - Resumable: the position is recorded with the stored schema after each page.
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
    /// Sets the number of rows per page; by default 1,000. The position is recorded after each page.
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
            let begun = self
                .handle
                .pass_fence(&layout, (note, &format_position(&Position::default())), self.has_older)
                .await?;
            let begun = match begun {
                Fence::Passed(position) => position,
                Fence::Waits(time) => {
                    report.run_again(time);
                    continue;
                }
            };
            let mut next = Some(parse_position(&begun));
            let mut completed = Completed::new(table.store().capabilities().ordered);
            // IMPORTANT: the position is not recorded after a page with failures. If this run is interrupted, the next run reports them again.
            let mut has_failed = false;
            while let Some(position) = next {
                self.handle.admit(false).await?;
                let (following, failures) =
                    copying.complete_page(side, &position, (self.page, &mut completed), &mut report).await?;
                next = following;
                has_failed |= failures > 0;
                if has_failed && next.is_some() {
                    continue;
                }
                let recorded = table
                    .update_schema_record(|layout| match &next {
                        Some(next) => fence::advance(layout, note, &begun, &format_position(next)),
                        None => fence::complete(layout, note, &begun),
                    })
                    .await;
                let recorded = match recorded {
                    // IMPORTANT: the pass may be recorded as complete although the write failed. The next run would then not report the failures again.
                    Err(_) if has_failed => {
                        report.run_again(fence::AGAIN);
                        return Ok(report);
                    }
                    recorded => recorded?,
                };
                if fence::is_superseded(&recorded, note, &begun) {
                    report.run_again(fence::AGAIN);
                    break;
                }
            }
            // IMPORTANT: an error in a later pass would drop the report, and the next run does not repeat this pass.
            if has_failed {
                if passes.peek().is_some() {
                    report.run_again(Duration::ZERO);
                }
                return Ok(report);
            }
        }
        Ok(report)
    }
}

impl<E: Entity, S: TableStore + Clone + 'static, O: StepRecorder> Copying<'_, E, S, O> {
    /// Settles the copies of the entities on one page (makes them equal to their sources). Returns the position after the page, and the number of
    /// entities that failed.
    async fn complete_page(
        &self,
        side: Side,
        position: &Position,
        (top, completed): (Option<usize>, &mut Completed),
        report: &mut CopiesReport,
    ) -> Result<(Option<Position>, usize)> {
        let mut failures = 0;
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
        let (page, next) = position.page((table.store(), table.name()?), &ranges, query).await?;
        let mut found = Self::found(side, &page)?;
        // Each page of the holders contains other holders.
        if side == Side::Sources {
            completed.take_from(&mut found);
        }
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
                Err(error) if Failure::of(&error) == Failure::Lasting => {
                    failures += 1;
                    report.failed.extend((report.failed.len() < LISTED).then_some((key, error)));
                }
                Err(error) => return Err(error),
            }
        }
        Ok((next, failures))
    }

    /// Returns the keys of the entities to settle for one page. For [`Side::Sources`], these are the sources of the references on the page; for
    /// [`Side::Holders`], the holders on the page. Skips rows of other types.
    fn found(side: Side, page: &Page) -> Result<BTreeSet<EntityKey>> {
        // A row that cannot be classified is reported as an error when it is settled.
        let is_own =
            |belonging: Result<RowOwner>| belonging.map_or(true, |belonging| belonging == RowOwner::Own);
        let mut found = BTreeSet::new();
        for row in page.rows.iter() {
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
    /// Any store outage; the error of a relation that cannot be settled, after all others have been settled. It is an error that requires a newer program, if
    /// any relation has one.
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

impl<E, S: fmt::Debug, O: fmt::Debug> fmt::Debug for CopiesBackfill<'_, E, S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopiesBackfill").field("handle", &self.handle).finish_non_exhaustive()
    }
}
