//! The phase of a pass that compares entities with index rows. It finds missing index entries, and writes them if requested.

use std::collections::BTreeMap;

use futures_util::{StreamExt, TryStreamExt, stream};
use table_core::entity::Entity;
use table_core::etag::ETag;
use table_core::index::IndexEntry;
use table_core::key::EntityKey;
use table_core::query::Select;
use table_core::row::Row;
use table_core::schema::IndexKind;
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result};

use crate::entities::{Batch, Outcome, RACE, StepRecorder, read_as};
use crate::failure::Failure;
use crate::index::changes::with_room;
use crate::index::copy::occupied;
use crate::index::copy_owner::is_entity;
use crate::index::finding::{Finding, FindingKind};
use crate::index::list::ListForm;
use crate::index::mark::{has_room, is_marked, mark};
use crate::index::remote::RemoteChange;
use crate::index::reserved::check_reserved;
use crate::index::sweep::packs::Packs;
use crate::index::sweep::{Item, Phase, Sweep};
use crate::index::whole::{has_same, with_values};
use crate::requests::CONCURRENCY;

/// An inconsistency at the key of an entity's index entry.
struct Wrong {
    kind: FindingKind,
    /// The correct entry.
    entry: IndexEntry,
    /// `true` if no other row occupies the key of the entry.
    is_free: bool,
}

impl<E: Entity, S: TableStore, O: StepRecorder> Sweep<'_, E, S, O> {
    /// Checks the index entries of the entities. Missing entries are written in batches, several per transaction. Entities with other inconsistencies, and
    /// entities that a concurrent writer has changed, are processed one by one.
    pub(super) async fn entities(&self, items: &[Item]) -> Result<Vec<Finding>> {
        let looks = (0..items.len()).map(|position| async move {
            let Some(item) = items.get(position) else { return Ok(Ok(None)) };
            self.look(item).await
        });
        let looks: Vec<_> = stream::iter(looks).buffered(CONCURRENCY).try_collect().await?;
        let mut findings = BTreeMap::new();
        let mut packs = Packs::new(self.schema(), self.store().capabilities().limits);
        let (mut packed, mut alone) = (BTreeMap::new(), BTreeMap::<EntityKey, Vec<usize>>::new());
        for (position, (item, wrong)) in items.iter().zip(looks).enumerate() {
            let Wrong { kind, entry, is_free } = match wrong {
                Ok(Some(wrong)) => wrong,
                Ok(None) => continue,
                Err(bad) => {
                    findings.insert(position, bad);
                    continue;
                }
            };
            let at = entry.key.clone();
            let is_packable = self.repair && is_free && self.schema().is_same_partition();
            let plan = |entry| self.joining(item.key.clone(), item.found.etag.clone(), entry);
            let is_packed = is_packable && packs.add(position, item, plan, entry).unwrap_or(false);
            if is_packed {
                packed.insert(position, self.finding(kind, &at, Some(&item.key)));
            } else {
                alone.entry(at).or_default().push(position);
            }
        }
        let written = self.write(packs).await?;
        for (position, finding) in packed {
            if written.contains(&position) {
                findings.insert(position, Finding { repaired: true, ..finding });
            } else {
                alone.entry(finding.at).or_default().push(position);
            }
        }
        findings.extend(self.alone(items, alone).await?);
        Ok(findings.into_values().collect())
    }

    /// Processes entities individually, several at a time. Entities with the same index key are processed in order.
    async fn alone(
        &self,
        items: &[Item],
        by_entry: BTreeMap<EntityKey, Vec<usize>>,
    ) -> Result<Vec<(usize, Finding)>> {
        let chains = by_entry.into_values().map(|mut positions| async move {
            positions.sort_unstable();
            let mut findings = Vec::new();
            for position in positions {
                let Some(item) = items.get(position) else { continue };
                let finding = self.guarded((Phase::Entities, &item.key), self.entity(&item.key)).await?;
                let finding = finding.unwrap_or_else(Some);
                findings.extend(finding.map(|finding| (position, finding)));
            }
            Ok::<_, Error>(findings)
        });
        let findings: Vec<Vec<(usize, Finding)>> =
            stream::iter(chains).buffer_unordered(CONCURRENCY).try_collect().await?;
        Ok(findings.into_iter().flatten().collect())
    }

    /// Returns an entity's index entry. Returns `None` if the entity has none. If the entity cannot be read, or no key of the index can contain its value, the
    /// inner `Err` is a finding.
    async fn entry(&self, key: &EntityKey, row: &Row) -> Result<Result<Option<IndexEntry>, Finding>> {
        let entry = async {
            let entity: E = read_as(key, row).map_err(|error| {
                let error = self.table.here(error, key);
                self.unread.get_or_init(|| error.clone());
                error
            })?;
            let entry = with_room(self.schema(), self.index.entry(&entity)?)?;
            entry.as_ref().map_or(Ok(()), |entry| check_reserved(self.schema(), &entry.key))?;
            Ok(entry)
        };
        self.checked((Phase::Entities, key), entry).await
    }

    /// Checks an entity's index entry against the entity on the page. Returns the inconsistency, or `None` if the entry is correct.
    async fn look(&self, item: &Item) -> Result<Result<Option<Wrong>, Finding>> {
        match self.entry(&item.key, &item.found.row).await? {
            Ok(Some(entry)) => {
                self.guarded((Phase::Entities, &item.key), self.judge(entry, &item.found.row, &item.key))
                    .await
            }
            Ok(None) => Ok(Ok(None)),
            Err(bad) => Ok(Err(bad)),
        }
    }

    /// Confirms an inconsistency of one entity's index entry by reading again. If requested, repairs the entry.
    async fn entity(&self, key: &EntityKey) -> Result<Option<Finding>> {
        let (table, mut race) = (self.table.table.name()?, self.table.retry.start(RACE));
        loop {
            // The page may be stale. Therefore, the entity is reread, then its index row, and then the entity again.
            let Some(found) = self.store().get(table, key, &Select::All).await? else { return Ok(None) };
            let entry = match self.entry(key, &found.row).await? {
                Ok(Some(entry)) => entry,
                Ok(None) => return Ok(None),
                Err(bad) => return Ok(Some(bad)),
            };
            // A concurrent writer may have corrected the entry.
            let Some(wrong) = self.judge(entry, &found.row, key).await? else { return Ok(None) };
            let again = self.store().get(table, key, &Select::All).await?;
            if again.is_none_or(|again| again.etag != found.etag) {
                race.retry(None).await.map_err(|error| self.table.here(error, key))?;
                continue;
            }
            let finding = self.finding(wrong.kind, &wrong.entry.key, Some(key));
            if !self.repair || wrong.kind == FindingKind::Duplicate {
                return Ok(Some(finding));
            }
            match self.write_entry(found.etag, key, wrong).await {
                // The entry need not be judged again: the write required the version that was judged, or it reread the entity.
                Ok(()) => return Ok(Some(Finding { repaired: true, ..finding })),
                Err(error) if error.code() == ErrorCode::UniqueViolation => {
                    return Ok(Some(Finding { kind: FindingKind::Duplicate, ..finding }));
                }
                Err(error) if error.is_conflict() => {
                    race.retry(error).await.map_err(|error| self.table.here(error, key))?;
                }
                Err(error) if Failure::of(&error) == Failure::Lasting => {
                    let reason = Some(error.to_string());
                    // IMPORTANT: the index lacks an entry for a readable entity.
                    let _ = self.blocked.set(error);
                    return Ok(Some(Finding { reason, ..finding }));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the inconsistency at the key of an entity's index entry, or `None` if the entry is correct.
    async fn judge(&self, entry: IndexEntry, stored: &Row, owner: &EntityKey) -> Result<Option<Wrong>> {
        let entry = with_values::<E>(self.schema(), entry, [Some(stored.view()), None])?;
        let entry = self.table.whole_entry(self.schema(), entry, Some(stored)).await?;
        let wrong = |kind, entry, is_free| Ok(Some(Wrong { kind, entry, is_free }));
        let table = self.table.table_of(self.schema())?;
        let found = self.store().get(&table, &entry.key, &Select::All).await?;
        let Some(found) = found else { return wrong(FindingKind::Missing, entry, true) };
        if self.schema().kind == IndexKind::List {
            let form = ListForm::new(E::SCHEMA, self.schema());
            return match self.members(&form, &entry.key, &found.row).await? {
                // A marked list counts as inconsistent here only during a repair. A check reports the mark once, when it checks the row of the list.
                Some(members) if members.contains(owner) && !(self.repair && members.is_marked()) => Ok(None),
                Some(members) if members.contains(owner) => wrong(FindingKind::Stale, entry, true),
                Some(_) => wrong(FindingKind::Missing, entry, true),
                None => wrong(FindingKind::Unreadable, entry, false),
            };
        }
        let kind = match self.table.copy_owner(self.schema(), &entry.key, &found.row).await? {
            Some(holder) if holder == *owner => {
                if has_same(found.row.view(), entry.row.view())? {
                    return Ok(None);
                }
                FindingKind::Stale
            }
            Some(holder) if self.table.has_entry(self.index, &holder, &entry.key).await? => {
                FindingKind::Duplicate
            }
            Some(_) => FindingKind::Missing,
            None => FindingKind::Unreadable,
        };
        wrong(kind, entry, false)
    }

    /// Writes an entity's index entry. If the index is in the entity's partition, one transaction writes both and requires the entity's version. A concurrent
    /// write that changes the value can therefore not interfere.
    async fn write_entry(&self, etag: ETag, key: &EntityKey, wrong: Wrong) -> Result<()> {
        let Wrong { kind, entry, .. } = wrong;
        let schema = self.schema();
        if !schema.is_same_partition() {
            let change = RemoteChange::of_index(schema, key.clone(), vec![entry.key]);
            return self.table.settle_for_pass(schema, &change).await.map(drop);
        }
        if kind != FindingKind::Stale {
            // The row that occupies this key may be dangling or unreadable.
            self.clear(&entry.key, key).await?;
        }
        let batch = Batch::of(self.joining(key.clone(), etag, entry))?;
        match self.attempt(&batch, true).await? {
            Outcome::Committed(_) => Ok(()),
            Outcome::Conflict(_, error) => Err(error),
        }
    }

    /// Removes the row at the key of an index entry if the row is unreadable, or if it belongs to an entity that has no entry there.
    async fn clear(&self, at: &EntityKey, owner: &EntityKey) -> Result<()> {
        let (table, limits) = (self.table.table_of(self.schema())?, self.store().capabilities().limits);
        loop {
            let Some(found) = self.store().get(&table, at, &Select::All).await? else { return Ok(()) };
            if self.schema().kind == IndexKind::List {
                let form = ListForm::new(E::SCHEMA, self.schema());
                return match self.members(&form, at, &found.row).await? {
                    Some(_) => Ok(()),
                    None => self.delete(&table, at, found.etag).await,
                };
            }
            match self.table.copy_owner(self.schema(), at, &found.row).await? {
                None if is_entity::<E>(self.schema(), at, &found.row) => {
                    return Err(occupied(self.schema(), at));
                }
                Some(holder) if holder == *owner => return Ok(()),
                Some(holder) if self.table.has_entry(self.index, &holder, at).await? => return Ok(()),
                // The row is marked first, and its owner is then reread.
                Some(_) if !is_marked(&found.row)? && has_room(at, &found.row, &limits)? => {
                    self.submit(&table, at, mark(found.etag)).await?;
                }
                _ => return self.delete(&table, at, found.etag).await,
            }
        }
    }
}
