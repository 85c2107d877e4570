//! What brings indexes of other partitions and tables in line with an entity: idempotent, in any order, any number of times
//! (PAT-INTER-3, PAT-EC-2).

use futures_util::{StreamExt, TryStreamExt, stream};
use table_core::entity::Entity;
use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::index::IndexOf;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::Select;
use table_core::row::{Row, RowView, RowWriter};
use table_core::schema::IndexKind;
use table_core::store::{StoredRow, TableStore};
use table_core::transaction::Transaction;

use crate::index::attempts::{Current, RACE, undecided};
use crate::index::batch::{RemoteChange, violation};
use crate::index::changes::{index_of, owner_of};
use crate::index::commit::CONCURRENCY;
use crate::index::list::{ListForm, ListWrite};
use crate::index::outbox::IndexOutbox;
use crate::index::table::Entities;
use crate::outbox::guard::guard_key;

impl RemoteChange {
    /// The change as one line of text, for whoever carries it.
    ///
    /// ```
    /// use table_core::{Entity, EntityKey};
    /// use table_patterns::index::RemoteChange;
    ///
    /// #[derive(Entity)]
    /// #[partition_key(department)]
    /// #[row_key(id)]
    /// #[index(Directory, unique, table = "Directory", row_key(email))]
    /// struct Employee { department: String, id: u32, email: String }
    ///
    /// let change = RemoteChange {
    ///     index: &Employee::SCHEMA.indexes[0],
    ///     owner: EntityKey::new("Sales", "7")?,
    ///     keys: vec![EntityKey::new("Sales", "ada@contoso.com")?],
    /// };
    /// let text = change.to_text();
    /// assert_eq!(text, r#"["Directory",["Sales","7"],["Sales","ada@contoso.com"]]"#);
    /// assert_eq!(RemoteChange::parse::<Employee>(&text)?, change);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn to_text(&self) -> String {
        let pair = |key: &EntityKey| serde_json::json!([key.partition_key.as_str(), key.row_key.as_str()]);
        let mut items = vec![serde_json::json!(self.index.name), pair(&self.owner)];
        items.extend(self.keys.iter().map(pair));
        serde_json::Value::Array(items).to_string()
    }

    /// Reads the text again.
    ///
    /// # Errors
    /// `InvalidInput` if it is no such text, or names an index that `E` does not have (any more).
    pub fn parse<E: Entity>(text: &str) -> Result<Self> {
        let wrong = || {
            Error::new(
                ErrorCode::InvalidInput,
                format!("`{text}` is no change of an index of `{}`", E::SCHEMA.entity),
            )
        };
        let items: Vec<serde_json::Value> =
            serde_json::from_str(text).map_err(|error| wrong().with_source(error))?;
        let key = |item: &serde_json::Value| {
            let pair = item.as_array().map(Vec::as_slice);
            let Some([serde_json::Value::String(partition_key), serde_json::Value::String(row_key)]) = pair
            else {
                return Err(wrong());
            };
            EntityKey::new(partition_key, row_key)
        };
        let [serde_json::Value::String(index), owner, keys @ ..] = &items[..] else { return Err(wrong()) };
        let index = E::SCHEMA.indexes.iter().find(|known| known.name == index).ok_or_else(wrong)?;
        Ok(Self { index, owner: key(owner)?, keys: keys.iter().map(key).collect::<Result<_>>()? })
    }
}

impl<E: Entity, S: TableStore, O: IndexOutbox> Entities<E, S, O> {
    /// Brings what an index in another partition or table holds of an entity in line with the entity as it is now; gives how
    /// many rows that took. To be called at least once for each recorded change; that it is called again does no harm.
    ///
    /// Why it converges: beside each key where entries can be lies a guard (see [the pattern](crate::index)). It is read before the
    /// entity and written with the entry, also where that is right already. So of two that settle one key the one with the older entity in
    /// mind fails, however long it slept, and whether there is an entry or none.
    ///
    /// # Errors
    /// `UniqueViolation` if another entity has the value, which no transaction could prevent between partitions: the change
    /// stays recorded for a person to decide (PAT-EC-4); `IndexListFull` (PAT-IX-4); those of the store.
    pub async fn settle(&self, change: &RemoteChange) -> Result<usize> {
        let Some(index) = index_of::<E>(change.index) else { return Ok(0) };
        let table = self.table_of(change.index)?;
        let (mut keys, mut written) = (change.keys.clone(), 0_usize);
        let mut race = self.retry.race(RACE);
        loop {
            let (known, in_table) = (&keys, &table);
            let targets = (0..keys.len()).map(|at| async move {
                match known.get(at) {
                    Some(key) => self.target(in_table, key).await,
                    None => Err(undecided()),
                }
            });
            let found: Vec<_> = stream::iter(targets).buffered(CONCURRENCY).try_collect().await?;
            // IMPORTANT: after the guards. What is written under them is then never older than what was there when they were read.
            let current = self.current(&change.owner).await?;
            let entry = match &current {
                Some(current) => index.entry(&current.entity)?,
                None => None,
            };
            if let Some(entry) = &entry
                && !keys.contains(&entry.key)
            {
                keys.push(entry.key.clone());
                continue;
            }
            let mut is_overtaken = false;
            for (key, target) in keys.iter().zip(&found) {
                let wanted = entry.as_ref().filter(|entry| entry.key == *key).map(|entry| &entry.row);
                let step = self.step(index, &table, key, &change.owner, wanted, target.row.as_ref()).await;
                let step = match step {
                    // The entity may have given the value up since it was read, and the other taken it: only while it stays as it
                    // was have both had it.
                    Err(error)
                        if error.code() == ErrorCode::UniqueViolation
                            && !self.is_still(&change.owner, current.as_ref()).await? =>
                    {
                        is_overtaken = true;
                        continue;
                    }
                    step => step?,
                };
                let (kind, upload) = step.map(|step| (step.kind, step.upload)).unzip();
                let (lists, upload) = (self.lists(&table), upload.flatten());
                upload.as_ref().map_or(Ok(()), |upload| lists.check_age(upload))?;
                let rows = usize::from(kind.is_some());
                match self.put(&table, key, target.guard.as_ref(), kind).await {
                    Ok(()) => written += rows,
                    Err(error) if error.is_conflict() => {
                        is_overtaken = true;
                        if let Some(upload) = &upload {
                            lists.discard(upload).await;
                        }
                    }
                    Err(error) => return Err(error),
                }
            }
            if !is_overtaken {
                return Ok(written);
            }
            race.lost(None).await.map_err(|error| self.here(error, &change.owner))?;
        }
    }

    /// What is at a key of an index elsewhere. The guard is read first: whatever changes the entry afterwards changes the guard.
    async fn target(&self, table: &TableName, key: &EntityKey) -> Result<Target> {
        let store = self.table.store();
        let guard = store.get(table, &guard_key(key)?, &Select::names(["PartitionKey"])).await?;
        let row = store.get(table, key, &Select::All).await?;
        Ok(Target { guard: guard.map(|guard| guard.etag), row })
    }

    async fn is_still(&self, owner: &EntityKey, then: Option<&Current<E>>) -> Result<bool> {
        let now = self.table.store().get(self.table.name()?, owner, &Select::All).await?;
        Ok(now.map(|now| now.etag) == then.map(|then| then.etag.clone()))
    }

    /// The write that makes what is at a key what it should be; `None` if it is.
    async fn step(
        &self,
        index: &IndexOf<E>,
        table: &TableName,
        key: &EntityKey,
        owner: &EntityKey,
        wanted: Option<&Row>,
        found: Option<&StoredRow>,
    ) -> Result<Option<ListWrite>> {
        if index.schema().kind == IndexKind::List {
            let place = |error: Error| {
                error.with_table(table.as_str()).with_key(key.partition_key.as_str(), key.row_key.as_str())
            };
            return self.list_step(index, table, key, owner, wanted, found).await.map_err(place);
        }
        let kind = self.copy_step(index, key, owner, wanted, found).await?;
        Ok(kind.map(|kind| ListWrite { kind, upload: None }))
    }

    async fn copy_step(
        &self,
        index: &IndexOf<E>,
        key: &EntityKey,
        owner: &EntityKey,
        wanted: Option<&Row>,
        found: Option<&StoredRow>,
    ) -> Result<Option<OperationKind>> {
        let Some(found) = found else { return Ok(wanted.map(|row| OperationKind::Insert(row.clone()))) };
        let if_match = IfMatch::ETag(found.etag.clone());
        let holder = owner_of::<E>(index.schema(), key, &found.row);
        let is_ours = holder.as_ref() == Some(owner);
        Ok(match wanted {
            Some(row) if is_ours && has_same(found.row.view(), row.view())? => None,
            Some(row) if is_ours => Some(OperationKind::Replace(row.clone(), if_match)),
            Some(row) => {
                if let Some(holder) = holder
                    && self.has_entry(index, &holder, key).await?
                {
                    return Err(violation(index.schema(), key, &holder));
                }
                // What its owner left behind, and would remove in its time.
                Some(OperationKind::Replace(row.clone(), if_match))
            }
            None if is_ours => Some(OperationKind::Delete(if_match)),
            None => None,
        })
    }

    async fn list_step(
        &self,
        index: &IndexOf<E>,
        table: &TableName,
        key: &EntityKey,
        owner: &EntityKey,
        wanted: Option<&Row>,
        found: Option<&StoredRow>,
    ) -> Result<Option<ListWrite>> {
        let form = ListForm::new(E::SCHEMA, index.schema());
        let lists = self.lists(table);
        let before = lists.read::<E>(&form, key, found.map(|found| &found.row)).await?;
        let mut after = before.clone();
        match wanted {
            Some(row) => after.join(owner.clone(), form.member(row)?),
            None => after.leave(owner),
        }
        if after == before {
            return Ok(None);
        }
        lists.write(&form, key, found, &before, &after).await
    }

    /// Whether an entity has its entry at this key now.
    pub(crate) async fn has_entry(
        &self,
        index: &IndexOf<E>,
        owner: &EntityKey,
        key: &EntityKey,
    ) -> Result<bool> {
        match self.current(owner).await? {
            Some(current) => Ok(index.entry(&current.entity)?.is_some_and(|entry| entry.key == *key)),
            None => Ok(false),
        }
    }

    /// Writes an entry under its guard; the guard alone where the entry is right.
    async fn put(
        &self,
        table: &TableName,
        key: &EntityKey,
        guard: Option<&ETag>,
        kind: Option<OperationKind>,
    ) -> Result<()> {
        let store = self.table.store();
        let mut transaction = Transaction::new(key.partition_key.clone(), store.capabilities().limits)?;
        let nothing = RowWriter::with_capacity(0).finish();
        let guards = match guard {
            Some(etag) => OperationKind::Merge(nothing, IfMatch::ETag(etag.clone())),
            None => OperationKind::Insert(nothing),
        };
        transaction.push(Operation { row_key: guard_key(key)?.row_key, kind: guards })?;
        if let Some(kind) = kind {
            transaction.push(Operation { row_key: key.row_key.clone(), kind })?;
        }
        store.submit(table, transaction).await.map(drop)
    }
}

/// What is at a key of an index elsewhere.
struct Target {
    /// The version of its guard, if it has one.
    guard: Option<ETag>,
    row: Option<StoredRow>,
}

/// Whether two rows have the same properties, in whatever order.
pub(crate) fn has_same(one: RowView<'_>, other: RowView<'_>) -> Result<bool> {
    if one.len() != other.len() {
        return Ok(false);
    }
    let mut hint = 0;
    for property in one.properties() {
        let property = property?;
        if other.find(property.name, &mut hint)? != Some(property.value) {
            return Ok(false);
        }
    }
    Ok(true)
}
