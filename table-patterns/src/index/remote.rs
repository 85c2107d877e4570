//! Records the effects of a change on other partitions and tables: on index entries, on copies of the entity that other entities hold, and on copies that the
//! entity itself holds.

use serde::{Deserialize, Serialize};
use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::row::{Row, RowWriter};
use table_core::schema::{EntitySchema, IndexSchema};
use table_core::{Error, Result, ValueRef};

use crate::index::fault::IndexFault;
use crate::index::whole::canonical;
use crate::outbox::keys::hash;

/// A change to an entity that affects rows in other partitions or tables. The effects must be settled. The change lists the rows that may need an update.
///
/// A worker computes the desired rows from the current entity. Changes may therefore be settled late, twice and in any order (PAT-EC-2). The change also
/// records a hash of the resulting index entry, with which a worker can detect a stale read of the entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteChange {
    /// The kind of the rows that may need an update.
    pub of: Derived,
    /// The key of the changed entity.
    pub owner: EntityKey,
    /// For an index, the keys of the entity's copies or lists before and after the change. For copies that this entity holds, the keys of copied entities to
    /// which it may no longer refer.
    pub keys: Vec<EntityKey>,
    /// The fingerprint of the entity's index entry after the change.
    pub fingerprint: EntryFingerprint,
}

/// The kind of rows derived from an entity in other partitions or tables.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Derived {
    /// The entity's entries in an index.
    Index(&'static IndexSchema),
    /// The [copies](crate::copies) of the entity. Entities that refer to it hold them.
    CopiesOf,
    /// The copied values that this entity holds in the named relation.
    CopiesIn(String),
}

/// The maximum number of entities in the path of a change. If copies form a chain, a change records its path through the chain.
pub(crate) const PATH: usize = 64;
/// The first element of an encoded change to copies of the entity. No index has this name, because it contains spaces.
const GIVEN: &str = "copies of it";
const HELD: &str = "copies by ";

impl Derived {
    /// Returns the name of the index or the relation. For copies of the entity, returns a fixed string.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Index(index) => index.name,
            Self::CopiesOf => GIVEN,
            Self::CopiesIn(relation) => relation,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::CopiesIn(relation) => format!("{HELD}{relation}"),
            named => named.name().to_owned(),
        }
    }

    /// Returns the maximum number of keys in a recorded change. This limits the number of requests that a worker sends.
    const fn most_keys(&self) -> usize {
        match self {
            // The keys before and after the change.
            Self::Index(_) => 2,
            // The path of a chain of copies.
            Self::CopiesOf => PATH + 1,
            Self::CopiesIn(_) => 1,
        }
    }

    /// Parses the kind of a change. Returns `None` for an index that `E` does not have.
    fn parse<E: Entity>(text: &str) -> Option<Self> {
        if text == GIVEN {
            return Some(Self::CopiesOf);
        }
        match text.strip_prefix(HELD) {
            Some(relation) => Some(Self::CopiesIn(relation.to_owned())),
            None => E::SCHEMA.indexes.iter().find(|known| known.name == text).map(Self::Index),
        }
    }
}

/// A fingerprint of the index entry that results from a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryFingerprint {
    /// The fingerprint is not known, for example because the change comes from a repair.
    #[default]
    Unknown,
    /// The entity has no entry in the index.
    Nothing,
    /// The entity has an entry in the index.
    Entry {
        /// The key of the copy, or of the list.
        key: EntityKey,
        /// The hash of the entry's properties.
        hash: u64,
    },
}

impl EntryFingerprint {
    /// Returns the fingerprint of an index entry. The order of the properties does not matter, because releases may declare the fields in different orders.
    pub(crate) fn entry(key: &EntityKey, row: &Row) -> Self {
        let properties: Result<Vec<_>> = row.view().properties().collect();
        let mut properties = properties.unwrap_or_default();
        properties.sort_by_key(|property| property.name);
        let mut sorted = RowWriter::with_capacity(properties.len());
        for property in properties {
            let value = match property.value {
                ValueRef::Double(number) => ValueRef::Double(canonical(number)),
                value => value,
            };
            sorted.property(property.name, value);
        }
        Self::Entry { key: key.clone(), hash: hash(sorted.finish().as_bytes().iter().copied()) }
    }

    /// Returns `true` if both fingerprints record the same entry at the key `at`, or if both record that no entry exists there.
    pub(crate) fn records_same_entry(&self, other: &Self, at: &EntityKey) -> bool {
        let there = |left: &Self| match left {
            Self::Entry { key, hash } if key == at => Some(*hash),
            _ => None,
        };
        there(self) == there(other)
    }
}

impl RemoteChange {
    /// Creates a change without a fingerprint of the resulting entry.
    pub(crate) const fn new(of: Derived, owner: EntityKey, keys: Vec<EntityKey>) -> Self {
        Self { of, owner, keys, fingerprint: EntryFingerprint::Unknown }
    }

    /// Creates a change to an index entry, without a fingerprint of the resulting entry.
    pub(crate) const fn of_index(
        index: &'static IndexSchema,
        owner: EntityKey,
        keys: Vec<EntityKey>,
    ) -> Self {
        Self::new(Derived::Index(index), owner, keys)
    }

    /// Returns the change as one line of text. Use it in an outbox record or a message.
    ///
    /// ```
    /// use table_core::{Entity, EntityKey};
    /// use table_patterns::index::{Derived, EntryFingerprint, RemoteChange};
    ///
    /// #[derive(Entity)]
    /// #[partition_key(department)]
    /// #[row_key(id)]
    /// #[index(Directory, unique, table = "Directory", row_key(email))]
    /// struct Employee { department: String, id: u32, email: String }
    ///
    /// let change = RemoteChange {
    ///     of: Derived::Index(&Employee::SCHEMA.indexes[0]),
    ///     owner: EntityKey::new("Sales", "7")?,
    ///     keys: vec![EntityKey::new("Sales", "ada@contoso.com")?],
    ///     fingerprint: EntryFingerprint::Unknown,
    /// };
    /// let text = change.to_text();
    /// assert_eq!(text, r#"["Directory",["Sales","7"],["Sales","ada@contoso.com"]]"#);
    /// assert_eq!(RemoteChange::parse::<Employee>(&text)?, change);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn to_text(&self) -> String {
        self.text(None)
    }

    /// Returns the change as text with the fingerprint of the resulting entry. Only programs with the same schema can compare fingerprints.
    pub(crate) fn recorded(&self, entity: &EntitySchema) -> String {
        let entry = match &self.fingerprint {
            EntryFingerprint::Unknown => return self.to_text(),
            EntryFingerprint::Nothing => None,
            EntryFingerprint::Entry { key, hash } => {
                self.keys.iter().position(|known| known == key).map(|at| (at, *hash))
            }
        };
        self.text(Some(Recorded { design: entity.fingerprint().to_string(), entry }))
    }

    fn text(&self, recorded: Option<Recorded>) -> String {
        let pair = |key: &EntityKey| serde_json::json!([key.partition_key.as_str(), key.row_key.as_str()]);
        let mut items = vec![serde_json::json!(self.of.text()), pair(&self.owner)];
        items.extend(self.keys.iter().map(pair));
        items.extend(recorded.and_then(|recorded| serde_json::to_value(recorded).ok()));
        serde_json::Value::Array(items).to_string()
    }

    /// Returns `true` if the text records the current schema of `E` or no schema. Returns `None` if the text is invalid, or names an index or relation that
    /// this schema does not have. For a change to copies, `is_declared` returns `true` if the schema has the relation.
    pub(crate) fn is_of_design<E: Entity>(
        text: &str,
        is_declared: impl FnOnce(&Derived) -> bool,
    ) -> Option<bool> {
        let items: Vec<serde_json::Value> = serde_json::from_str(text).ok()?;
        let of = Derived::parse::<E>(items.first()?.as_str()?)?;
        if !matches!(of, Derived::Index(_)) && !is_declared(&of) {
            return None;
        }
        let design = items.last().and_then(|last| last.get("Design")).and_then(|design| design.as_str());
        Some(design.is_none_or(|design| design == E::SCHEMA.fingerprint().to_string()))
    }

    /// Parses the text of a change.
    ///
    /// # Errors
    /// `InvalidInput` if the string is invalid, contains more keys than a change can have, or names an index that `E` does not have.
    pub fn parse<E: Entity>(text: &str) -> Result<Self> {
        let wrong = || Error::of(IndexFault::NotAChange { text: text.to_owned(), entity: E::SCHEMA.entity });
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
        let [serde_json::Value::String(of), owner, keys @ ..] = &items[..] else { return Err(wrong()) };
        let of = Derived::parse::<E>(of).ok_or_else(wrong)?;
        let (keys, recorded) = match keys {
            [keys @ .., last] if last.is_object() => (keys, Some(last)),
            keys => (keys, None),
        };
        if keys.len() > of.most_keys() {
            return Err(wrong());
        }
        let keys: Vec<EntityKey> = keys.iter().map(key).collect::<Result<_>>()?;
        let left = match recorded {
            None => EntryFingerprint::Unknown,
            Some(recorded) => {
                let recorded: Recorded =
                    serde_json::from_value(recorded.clone()).map_err(|error| wrong().with_source(error))?;
                recorded.left(E::SCHEMA, &keys)
            }
        };
        Ok(Self { of, owner: key(owner)?, keys, fingerprint: left })
    }
}

/// The fingerprint of the resulting entry, as serialised in the text of the change.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Recorded {
    /// The fingerprint of the schema under which the hash was computed.
    design: String,
    /// The position of the entry's key in the change's `keys`, and the hash of the entry's stored values in name order, with canonical NaN and zero. `None` if
    /// the entity has no entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<(usize, u64)>,
}

impl Recorded {
    /// Returns the recorded fingerprint of the entry. Returns `Unknown` if it was recorded under a different schema.
    fn left(&self, entity: &EntitySchema, keys: &[EntityKey]) -> EntryFingerprint {
        if self.design != entity.fingerprint().to_string() {
            return EntryFingerprint::Unknown;
        }
        match self.entry {
            None => EntryFingerprint::Nothing,
            Some((at, hash)) => match keys.get(at) {
                Some(key) => EntryFingerprint::Entry { key: key.clone(), hash },
                None => EntryFingerprint::Unknown,
            },
        }
    }
}
