//! Checks and repairs indexes. A check finds entries that are missing, stale, duplicate or dangling.

use std::num::NonZeroU32;
use std::time::Duration;

use table_core::Result;
use table_core::entity::Entity;
use table_core::index::{Index, IndexOf};
use table_core::key::EntityKey;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::store::TableStore;

use crate::entities::{Entities, ReservedRows, StepRecorder};
use crate::index::finding::{Finding, FindingKind};
use crate::index::pace::Pacer;
use crate::index::sweep::{Phase, Sweep};
use crate::omitted::WholePage;
use crate::paging::Pages;
use crate::position::Position;

/// The maximum number of findings listed in a report.
const LISTED: usize = 1_000;

/// The result of an index check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexReport {
    /// The number of processed entities and index rows. An entity counts once for each index.
    pub scanned: u64,
    /// The findings, at most 1,000. Further findings are only counted.
    pub findings: Vec<Finding>,
    /// The total number of findings, including those that are not listed.
    pub found: u64,
    /// The number of repaired findings.
    pub repaired: u64,
    /// The number of rows that pages [omit](table_core::query::Page::skipped) and whose keys the store does not return, such as items that other programs have
    /// written to Cosmos DB. A row counts once for each index. It counts twice for an index whose keys begin like those of the entities. If the store returns
    /// the key of a row that it cannot represent, the row is a finding instead.
    ///
    /// In the report of a backfill, this number also includes the entities that earlier runs found unreadable.
    pub skipped: u64,
    /// The delay before the next attempt of a backfill that could not begin. Programs of an older release may still have requests in flight.
    pub retry_after: Option<Duration>,
}

impl IndexReport {
    /// Returns `true` if the check found no inconsistencies and could read every row.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.found == 0 && self.skipped == 0
    }

    /// Removes the findings of pages that are about to be processed again, except the repaired ones. `skipped` is the number of rows that other pages set aside.
    pub(crate) fn read_again(&mut self, skipped: u64) {
        self.findings.retain(|finding| finding.repaired);
        (self.found, self.skipped) = (self.repaired, skipped);
    }

    pub(crate) fn add(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            self.found += 1;
            self.repaired += u64::from(finding.repaired);
            if self.findings.len() < LISTED {
                self.findings.push(finding);
            }
        }
    }
}

/// A builder for a check of a table's indexes.
///
/// A check reads every entity and every index row, sixteen at a time, with a few requests for each, and holds one page in memory. It then reads the reserved
/// rows of copies and feeds, because those patterns silently ignore rows that they cannot read.
///
/// Other programs may write during a check. The check does not report inconsistencies that a concurrent transaction is about to resolve, and a repair does not
/// undo other writes. If a remote index merely lags behind, this is also reported. To avoid this, first let the workers finish, or run a repair, which does
/// their work early.
///
/// ```
/// # use table_core::{Engine, Entity, IfMatch, TableStoreExt};
/// # use table_patterns::EntityStore;
/// # use table_patterns::index::FindingKind;
/// # #[derive(Entity, Clone)]
/// # #[entity(table = "Company")]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # #[index(ByEmail, unique, row_key("email_", email))]
/// # struct Employee { department: String, #[digits(6)] id: u32, email: String }
/// # pollster::block_on(async {
/// # let store = Engine::in_memory();
/// let employees = store.entities::<Employee>().create_if_missing().await?;
/// employees.insert(&Employee { department: "Sales".into(), id: 223, email: "ada@contoso.com".into() }).await?;
///
/// // The copy is deleted by another tool.
/// let copy = table_core::EntityKey::new("Sales", "email_ada@contoso.com")?;
/// store.untyped("Company")?.delete(&copy, IfMatch::Any).await?;
///
/// let report = employees.check().run().await?; // changes nothing
/// assert_eq!((report.found, report.findings[0].kind), (1, FindingKind::Missing));
/// assert_eq!(employees.check().repair().run().await?.repaired, 1);
/// assert!(employees.check().run().await?.is_clean());
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
#[must_use = "a check looks at nothing until it is run"]
pub struct IndexCheck<'a, E, S, O> {
    table: &'a Entities<E, S, O>,
    only: Option<&'static str>,
    repair: bool,
    per_second: Option<NonZeroU32>,
}

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Creates a check of all indexes, and of the reserved rows of copies and feeds. Without [`repair`](IndexCheck::repair), the check changes nothing.
    pub const fn check(&self) -> IndexCheck<'_, E, S, O> {
        IndexCheck { table: self, only: None, repair: false, per_second: None }
    }
}

impl<E: Entity, S: TableStore, O: StepRecorder> IndexCheck<'_, E, S, O> {
    /// Restricts the check to one index. The reserved rows of copies and feeds are then not checked.
    pub fn only<I: Index<Entity = E>>(self) -> Self {
        Self { only: Some(I::SCHEMA.name), ..self }
    }

    /// Makes the check repair all findings, except duplicates, bad entities, odd rows, and index rows that the store cannot represent (see [`FindingKind`]).
    pub fn repair(self) -> Self {
        Self { repair: true, ..self }
    }

    /// Limits the average number of entities and rows that are checked per second. A burst may use the allowance of one second.
    pub fn per_second(self, items: NonZeroU32) -> Self {
        Self { per_second: Some(items), ..self }
    }

    /// Runs the check.
    ///
    /// # Errors
    /// - `SchemaMismatch` if a newer schema does not allow this program to repair, or prevents it from checking copies.
    /// - Any error from the store.
    ///
    /// An unreadable row or entity is reported as a finding and not as an error, even if pages of the store [omit](table_core::query::Page::skipped) it; see
    /// [`skipped`](IndexReport::skipped).
    pub async fn run(self) -> Result<IndexReport> {
        let mut report = IndexReport::default();
        let mut pacer = Pacer::new(self.table.retry.runtime().clone(), self.per_second);
        let is_wanted = |index: &&IndexOf<E>| self.only.is_none_or(|only| index.schema().name == only);
        for index in E::INDEXES.iter().filter(is_wanted) {
            let sweep = Sweep::new(self.table, index, self.repair);
            for phase in [Phase::Rows, Phase::Entities] {
                let mut next = Some(Position::default());
                while let Some(at) = next {
                    let swept = sweep.page(phase, &at, &mut pacer).await?;
                    report.scanned += swept.items;
                    report.skipped += swept.skipped;
                    report.add(swept.findings);
                    next = swept.next;
                }
            }
        }
        if self.only.is_none() {
            for rules in self.table.contributors.iter().filter_map(|contributor| contributor.reserved()) {
                self.check_reserved(rules, &mut pacer, &mut report).await?;
            }
        }
        Ok(report)
    }

    /// Finds reserved rows that the pattern to which they belong cannot read.
    async fn check_reserved(
        &self,
        rules: ReservedRows,
        pacer: &mut Pacer,
        report: &mut IndexReport,
    ) -> Result<()> {
        let (table, store) = (self.table.table.name()?, self.table.table.store());
        let row_key = TextRange::prefix(rules.prefix);
        let query = Query::new(KeyRange { partition_key: TextRange::ALL, row_key });
        let mut pages = Pages::new(store, table, &query);
        while let Some(WholePage { page, unreadable }) = pages.next_whole().await? {
            let odd = |at, reason| Finding {
                index: rules.pattern,
                kind: FindingKind::OddRow,
                at,
                owner: None,
                repaired: false,
                reason: Some(reason),
            };
            let mut findings = Vec::new();
            for row in page.rows.iter() {
                let Some(reason) = (rules.fault)(row) else { continue };
                findings.push(odd(EntityKey::new(row.partition_key, row.row_key)?, reason.to_owned()));
            }
            findings.extend(unreadable.into_iter().map(|row| odd(row.key, row.error.to_string())));
            report.skipped += page.skipped;
            report.scanned += u64::try_from(page.rows.len()).unwrap_or(u64::MAX);
            report.add(findings);
            pacer.items(page.rows.len()).await;
        }
        Ok(())
    }
}
