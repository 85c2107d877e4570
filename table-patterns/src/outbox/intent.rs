//! Intents: steps of a change elsewhere, each of them idempotent.

use table_core::entity::PlainEntity;
use table_core::error::{Error, Result};
use table_core::key::{EntityKey, RowKey};
use table_core::name::TableName;
use table_core::row::Row;
use table_core::selection::{Point, Selection};

use crate::outbox::fault::OutboxFault;
use crate::outbox::keys;
use crate::outbox::message::{self, Message};

/// What a change of one entity intends in other partitions, tables or stores, to be written in the transaction of the change.
///
/// The steps are taken in order; where a worker dies between two, another takes all of them again (PAT-EC-2, PAT-EC-3).
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
    /// An intent of a change of the entity in this row: it distinguishes changes of one entity from those of others.
    #[must_use]
    pub const fn of(source: RowKey) -> Self {
        Self { source, version: None, steps: Vec::new() }
    }

    /// Adds a step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Says which of the changes of its entity this is: later changes have larger numbers, as a counter in the entity does that
    /// each change raises under the entity's `ETag`.
    ///
    /// Without it the Timestamp of the change is taken, which the embedded engine gives out in the order of the changes (ENG-8). The
    /// service does so as far as the clock of the machine that serves the partition never goes back, which is not documented
    /// (ETAG-7): see [`guard`](crate::outbox::guard). On a store of coarser Timestamps guarded steps need a version. All changes of one
    /// entity are numbered in one of the two ways.
    #[must_use]
    pub const fn version(mut self, version: u64) -> Self {
        self.version = Some(version);
        self
    }

    /// The number of the change, if one was given.
    #[must_use]
    pub const fn given_version(&self) -> Option<u64> {
        self.version
    }

    /// Whether a step keeps older ones from undoing it, and so needs to know which change is later.
    pub(crate) fn is_guarded(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Write { guarded: true, .. }))
    }

    /// The row of the entity that changed.
    #[must_use]
    pub const fn source(&self) -> &RowKey {
        &self.source
    }

    /// The steps, in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Checks what can be known before anything is written.
    ///
    /// # Errors
    /// `InvalidInput` without steps, or where two guarded steps have one target: only the first would be taken;
    /// `PropertyValueTooLarge` if a guarded target's RowKey leaves no room for its guard's.
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

/// One step: taken twice it does what it does once.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Write one entity somewhere.
    Write {
        /// Its table.
        table: TableName,
        /// Its key.
        key: EntityKey,
        /// What to write.
        write: TargetWrite,
        /// Whether an older step is kept from undoing a newer one.
        guarded: bool,
    },
    /// Let the handler of a [message](Message) do it.
    #[non_exhaustive]
    Call {
        /// The name of the message.
        name: String,
        /// The version that it was written as; 0 for the steps of patterns.
        version: u32,
        /// Its text.
        payload: String,
    },
}

/// What a step does to an entity.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TargetWrite {
    /// Replaces or inserts (UPS-2).
    InsertOrReplace(Row),
    /// Merges or inserts (UPS-2).
    InsertOrMerge(Row),
    /// Deletes what is there, and is content with nothing (QUE-22).
    DeleteIfExists,
}

impl Step {
    const fn write(table: TableName, key: EntityKey, write: TargetWrite) -> Self {
        Self::Write { table, key, write, guarded: true }
    }

    /// Replaces or inserts an entity in the table of its design, unless a newer change of the source has been there. An entity that declares
    /// indexes, a feed or copies does not compile: their handle keeps those, in a [handler](crate::work::Handler).
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
    /// Those of encoding it.
    pub fn put<E: PlainEntity>(entity: &E) -> Result<Self> {
        Self::of_entity::<E>(entity.key_of()?, TargetWrite::InsertOrReplace(entity.to_row()?))
    }

    /// Merges an entity or inserts it, unless a newer change of the source has been there. An older merge is passed over whole: fields that
    /// are `None` are kept, so each change names all that the source writes there.
    ///
    /// # Errors
    /// Those of encoding it; `InvalidInput` if a field is stored in chunks.
    pub fn merge<E: PlainEntity>(entity: &E) -> Result<Self> {
        Self::of_entity::<E>(entity.key_of()?, TargetWrite::InsertOrMerge(entity.to_merge()?))
    }

    /// Deletes an entity if it is there, unless a newer change of the source has been there.
    ///
    /// # Errors
    /// Those of encoding its key.
    pub fn delete<E: PlainEntity>(key: Selection<E, Point>) -> Result<Self> {
        Self::of_entity::<E>(key.into_key()?, TargetWrite::DeleteIfExists)
    }

    fn of_entity<E: PlainEntity>(key: EntityKey, write: TargetWrite) -> Result<Self> {
        Ok(Self::write(TableName::new(E::SCHEMA.table)?, key, write))
    }

    /// [`put`](Self::put) of a row whose table or properties are known only at run time, as those of an archive.
    #[must_use]
    pub const fn insert_or_replace(table: TableName, key: EntityKey, row: Row) -> Self {
        Self::write(table, key, TargetWrite::InsertOrReplace(row))
    }

    /// [`merge`](Self::merge) of such a row.
    #[must_use]
    pub const fn insert_or_merge(table: TableName, key: EntityKey, row: Row) -> Self {
        Self::write(table, key, TargetWrite::InsertOrMerge(row))
    }

    /// [`delete`](Self::delete) of such a row.
    #[must_use]
    pub const fn delete_if_exists(table: TableName, key: EntityKey) -> Self {
        Self::write(table, key, TargetWrite::DeleteIfExists)
    }

    /// Carries a message to its [`Handler`](crate::work::Handler).
    ///
    /// # Errors
    /// `InvalidInput` for a message that has no JSON text, such as a map whose keys are not texts.
    pub fn call<M: Message>(message: &M) -> Result<Self> {
        let payload = message::encode(message)?;
        Ok(Self::Call { name: M::NAME.to_owned(), version: M::VERSION, payload })
    }

    /// A step of a pattern of this crate, which has its own words.
    pub(crate) const fn of_pattern(name: String, payload: String) -> Self {
        Self::Call { name, version: 0, payload }
    }

    /// Takes the guard off: for a target that is written once, or where the last to arrive may win. It saves a look-up and a
    /// row a target.
    #[must_use]
    pub fn unguarded(self) -> Self {
        match self {
            Self::Write { table, key, write, .. } => Self::Write { table, key, write, guarded: false },
            call @ Self::Call { .. } => call,
        }
    }
}
