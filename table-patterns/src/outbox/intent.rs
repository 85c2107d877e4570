//! Intents: lists of idempotent steps in other partitions, tables or stores. They are recorded together with a change.

use table_core::entity::PlainEntity;
use table_core::key::{EntityKey, RowKey};
use table_core::name::TableName;
use table_core::row::Row;
use table_core::selection::{Point, Selection};
use table_core::{Error, Result};

use crate::outbox::fault::OutboxFault;
use crate::outbox::keys;
use crate::outbox::message::{self, Message};

/// The steps that must follow a change to one entity, in other partitions, tables or stores. An intent is recorded in the same transaction as the change.
///
/// The steps are performed in order, and a step that fails stops the later ones. If a worker dies between two steps, another worker performs all of them again
/// (PAT-EC-2, PAT-EC-3).
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use table_patterns::outbox::{Intent, Message, Step};
/// use table_patterns::{Entity, RowKey};
///
/// #[derive(Entity)]
/// #[entity(table = "Directory")]
/// #[partition_key("email_", department)]
/// #[row_key(email)]
/// struct Listed { department: String, email: String, id: i64 }
///
/// #[derive(Serialize, Deserialize)]
/// struct Welcome { employee: u32 }
///
/// impl Message for Welcome {
///     const NAME: &'static str = "welcome";
///     const VERSION: u32 = 1;
/// }
///
/// let intent = Intent::of(RowKey::new("000223")?)
///     .step(Step::delete(Listed::key("Sales", "ada@contoso.com"))?)
///     .step(Step::call(&Welcome { employee: 223 })?);
/// assert_eq!(intent.steps().len(), 2);
/// # Ok::<(), table_patterns::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    source: RowKey,
    version: Option<u64>,
    steps: Vec<Step>,
}

impl Intent {
    /// Creates an intent for a change to the entity with this RowKey.
    #[must_use]
    pub const fn of(source: RowKey) -> Self {
        Self { source, version: None, steps: Vec::new() }
    }

    /// Adds a step that is performed after all earlier steps.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Sets the version of this change. Later changes to the same entity must have larger versions. To ensure this, each change can increment a counter in the
    /// entity, with a write that is conditional on the entity's `ETag`.
    ///
    /// By default, the version is the change's Timestamp. The embedded engine assigns Timestamps in commit order (ENG-8). The service does the same, unless the
    /// clock of the machine that serves the partition goes back (ETAG-7): see [`guard`](crate::outbox::guard). On a store whose Timestamps have a lower
    /// resolution, guarded steps need a version. All versions of changes to one entity must come from the same counter or clock.
    #[must_use]
    pub const fn version(mut self, version: u64) -> Self {
        self.version = Some(version);
        self
    }

    /// Returns the version of the change, if it was set.
    #[must_use]
    pub const fn given_version(&self) -> Option<u64> {
        self.version
    }

    /// Returns `true` if at least one step is guarded. The order of changes then matters.
    pub(crate) fn is_guarded(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Write { guarded: true, .. }))
    }

    /// Returns the RowKey of the changed entity.
    #[must_use]
    pub const fn source(&self) -> &RowKey {
        &self.source
    }

    /// Returns the steps in execution order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Checks that the intent can be recorded.
    ///
    /// # Errors
    /// - `InvalidInput` if the intent has no steps, or if two guarded steps have the same target. Only the first of the two would be applied.
    /// - `PropertyValueTooLarge` if the RowKey of a guarded target is too long for its guard.
    pub(crate) fn check(&self) -> Result<()> {
        if self.steps.is_empty() {
            return Err(Error::of(OutboxFault::Empty));
        }
        let mut seen = Vec::new();
        for step in &self.steps {
            let Step::Write { table, key, guarded: true, .. } = step else { continue };
            keys::guard_key(key).map_err(|error| error.with_table(table.as_str()))?;
            if seen.contains(&(table, key)) {
                return Err(Error::of(OutboxFault::SameTarget)
                    .with_table(table.as_str())
                    .with_key(key.partition_key.as_str(), key.row_key.as_str()));
            }
            seen.push((table, key));
        }
        Ok(())
    }
}

/// An idempotent step in another partition, table or store.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Writes one entity in any partition or table.
    Write {
        /// The table of the entity.
        table: TableName,
        /// The key of the entity.
        key: EntityKey,
        /// The kind of write, and the row to write, if any.
        write: TargetWrite,
        /// `true` if the step is skipped once a newer change to the same source has been applied.
        guarded: bool,
    },
    /// Calls the handler for a [message](Message).
    #[non_exhaustive]
    Call {
        /// The name of the message.
        name: String,
        /// The version of the message type that was used to write the payload. It is 0 for the steps of patterns.
        version: u32,
        /// The message's payload as JSON.
        payload: String,
    },
}

/// The write that a step performs on its target entity.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TargetWrite {
    /// Replaces the entity, or inserts it if it does not exist (UPS-2).
    InsertOrReplace(Row),
    /// Merges into the entity, or inserts it if it does not exist (UPS-2).
    InsertOrMerge(Row),
    /// Deletes the entity if it exists (QUE-22).
    DeleteIfExists,
}

impl Step {
    const fn write(table: TableName, key: EntityKey, write: TargetWrite) -> Self {
        Self::Write { table, key, write, guarded: true }
    }

    /// Creates a step that replaces or inserts an entity. The step is skipped if a newer change to the same source has been applied. The table is the one that
    /// the entity's schema names.
    ///
    /// Does not compile for an entity that declares indexes, a feed or copies. Write such an entity through its handle in a [handler](crate::work::Handler).
    ///
    /// ```
    /// use table_patterns::Entity;
    /// use table_patterns::outbox::Step;
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Directory")]
    /// #[partition_key("email_", department)]
    /// #[row_key(email)]
    /// struct Listed { department: String, email: String, id: i64 }
    ///
    /// let ada = Listed { department: "Sales".into(), email: "ada@contoso.com".into(), id: 223 };
    /// let steps = [Step::delete(Listed::key("Sales", "lovelace@contoso.com"))?, Step::put(&ada)?];
    /// # assert_eq!(steps.len(), 2);
    /// # Ok::<(), table_patterns::Error>(())
    /// ```
    ///
    /// # Errors
    /// Any error from encoding the entity.
    pub fn put<E: PlainEntity>(entity: &E) -> Result<Self> {
        Self::of_entity::<E>(entity.key_of()?, TargetWrite::InsertOrReplace(entity.to_row()?))
    }

    /// Creates a step that merges or inserts an entity. The step is skipped if a newer change to the same source has been applied. An older merge is skipped
    /// completely, so every change must contain all properties that the source writes to the target. `None` fields leave the stored values unchanged.
    ///
    /// Several sources can merge different properties into one target. None of them may [delete](Self::delete) the target: depending on the order of the
    /// deliveries, a delete removes either the properties of all sources or none. Instead, a source should write values that represent absence, such as empty
    /// strings.
    ///
    /// # Errors
    /// `InvalidInput` if a field is stored in chunks; any error from encoding the entity.
    pub fn merge<E: PlainEntity>(entity: &E) -> Result<Self> {
        Self::of_entity::<E>(entity.key_of()?, TargetWrite::InsertOrMerge(entity.to_merge()?))
    }

    /// Creates a step that deletes an entity if it exists. The step is skipped if a newer change to the same source has been applied. If another source was the
    /// last to write the entity, the step changes nothing.
    ///
    /// # Errors
    /// Any error from encoding the key.
    pub fn delete<E: PlainEntity>(key: Selection<E, Point>) -> Result<Self> {
        Self::of_entity::<E>(key.into_key()?, TargetWrite::DeleteIfExists)
    }

    fn of_entity<E: PlainEntity>(key: EntityKey, write: TargetWrite) -> Result<Self> {
        Ok(Self::write(TableName::new(E::SCHEMA.table)?, key, write))
    }

    /// Creates a [`put`](Self::put) step for a row whose table or properties are known only at run time, for example in an archive.
    #[must_use]
    pub const fn insert_or_replace(table: TableName, key: EntityKey, row: Row) -> Self {
        Self::write(table, key, TargetWrite::InsertOrReplace(row))
    }

    /// Creates a [`merge`](Self::merge) step for a row whose table or properties are known only at run time.
    #[must_use]
    pub const fn insert_or_merge(table: TableName, key: EntityKey, row: Row) -> Self {
        Self::write(table, key, TargetWrite::InsertOrMerge(row))
    }

    /// Creates a [`delete`](Self::delete) step for a row whose table is known only at run time.
    #[must_use]
    pub const fn delete_if_exists(table: TableName, key: EntityKey) -> Self {
        Self::write(table, key, TargetWrite::DeleteIfExists)
    }

    /// Creates a step that passes a message to its [`Handler`](crate::work::Handler).
    ///
    /// # Errors
    /// `InvalidInput` if the message cannot be represented as JSON, for example because it contains a map whose keys are not strings, or if its
    /// [`VERSION`](Message::VERSION) is 0.
    pub fn call<M: Message>(message: &M) -> Result<Self> {
        let payload = message::encode(message)?;
        Ok(Self::Call { name: M::NAME.to_owned(), version: M::VERSION, payload })
    }

    /// Creates a step for a handler registered by one of this crate's patterns. `payload` is in the pattern's own format.
    pub(crate) const fn of_pattern(name: String, payload: String) -> Self {
        Self::Call { name, version: 0, payload }
    }

    /// Returns `true` if the step is performed by a handler of one of this crate's patterns.
    pub(crate) const fn is_of_pattern(&self) -> bool {
        matches!(self, Self::Call { version: 0, .. })
    }

    /// Removes the guard from a step that writes an entity. Use this if the target is written only once, or if the last step to arrive may win. It saves a
    /// read, and one guard row per target. Other steps are returned unchanged.
    #[must_use]
    pub fn unguarded(self) -> Self {
        match self {
            Self::Write { table, key, write, .. } => Self::Write { table, key, write, guarded: false },
            call @ Self::Call { .. } => call,
        }
    }
}
