//! What an entity changed in an index elsewhere, as it is recorded with the change.

use serde::{Deserialize, Serialize};
use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::key::EntityKey;
use table_core::row::Row;
use table_core::schema::{EntitySchema, IndexSchema};

use crate::index::fault::IndexFault;
use crate::outbox::keys::hash;

/// What one entity changed in one index that lives in another partition or table: where it may have entries to bring in line.
///
/// A worker that brings it in line asks the entity itself what is to be there, so that changes may come late, twice and in any order (PAT-EC-2). What
/// the change left is recorded as a hash, by which an old answer is distinguished from the entity as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteChange {
    /// The index.
    pub index: &'static IndexSchema,
    /// The key of the entity that changed.
    pub owner: EntityKey,
    /// The keys of its copies or lists, before and after.
    pub keys: Vec<EntityKey>,
    /// What the entity has there since.
    pub left: Left,
}

/// What a change left in an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Left {
    /// It is not known, as where a repair asks.
    #[default]
    Unknown,
    /// Nothing.
    Nothing,
    /// An entry.
    Entry {
        /// The key of the copy, or of the list.
        key: EntityKey,
        /// A hash of what the entry holds.
        hash: u64,
    },
}

impl Left {
    /// An entry as an index has it.
    pub(crate) fn entry(key: &EntityKey, row: &Row) -> Self {
        Self::Entry { key: key.clone(), hash: hash(row.as_bytes().iter().copied()) }
    }

    /// Whether both say the same of one key.
    pub(crate) fn agrees(&self, other: &Self, at: &EntityKey) -> bool {
        let there = |left: &Self| match left {
            Self::Entry { key, hash } if key == at => Some(*hash),
            _ => None,
        };
        there(self) == there(other)
    }
}

impl RemoteChange {
    /// The change as one line of text, for its carrier.
    ///
    /// ```
    /// use table_core::{Entity, EntityKey};
    /// use table_patterns::index::{Left, RemoteChange};
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
    ///     left: Left::Unknown,
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

    /// The same with what the change left, which only a program of this design can compare.
    pub(crate) fn recorded(&self, entity: &EntitySchema) -> String {
        let (at, hash) = match &self.left {
            Left::Unknown => return self.to_text(),
            Left::Nothing => (None, None),
            Left::Entry { key, hash } => (self.keys.iter().position(|known| known == key), Some(*hash)),
        };
        self.text(Some(Recorded { design: entity.fingerprint().to_string(), at, hash }))
    }

    fn text(&self, recorded: Option<Recorded>) -> String {
        let pair = |key: &EntityKey| serde_json::json!([key.partition_key.as_str(), key.row_key.as_str()]);
        let mut items = vec![serde_json::json!(self.index.name), pair(&self.owner)];
        items.extend(self.keys.iter().map(pair));
        items.extend(recorded.and_then(|recorded| serde_json::to_value(recorded).ok()));
        serde_json::Value::Array(items).to_string()
    }

    /// Whether a text was recorded by a program of this design; `None` where it names an index that this one does not have.
    pub(crate) fn is_of_design<E: Entity>(text: &str) -> Option<bool> {
        let items: Vec<serde_json::Value> = serde_json::from_str(text).ok()?;
        let index = items.first()?.as_str()?;
        E::SCHEMA.indexes.iter().find(|known| known.name == index)?;
        let design = items.last().and_then(|last| last.get("Design")).and_then(|design| design.as_str());
        Some(design.is_none_or(|design| design == E::SCHEMA.fingerprint().to_string()))
    }

    /// Reads the text again.
    ///
    /// # Errors
    /// `InvalidInput` if it is not such a text, or names an index that `E` does not have (any more).
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
        let [serde_json::Value::String(index), owner, keys @ ..] = &items[..] else { return Err(wrong()) };
        let index = E::SCHEMA.indexes.iter().find(|known| known.name == index).ok_or_else(wrong)?;
        let (keys, recorded) = match keys {
            [keys @ .., last] if last.is_object() => (keys, Some(last)),
            keys => (keys, None),
        };
        let keys: Vec<EntityKey> = keys.iter().map(key).collect::<Result<_>>()?;
        let left = match recorded {
            None => Left::Unknown,
            Some(recorded) => {
                let recorded: Recorded =
                    serde_json::from_value(recorded.clone()).map_err(|error| wrong().with_source(error))?;
                recorded.left(E::SCHEMA, &keys)
            }
        };
        Ok(Self { index, owner: key(owner)?, keys, left })
    }
}

/// What a change left, as its text has it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Recorded {
    /// The fingerprint of the design that made the hash.
    design: String,
    /// Which of the keys has an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<u64>,
}

impl Recorded {
    /// What it says to a program of this design; to one of another, nothing.
    fn left(&self, entity: &EntitySchema, keys: &[EntityKey]) -> Left {
        if self.design != entity.fingerprint().to_string() {
            return Left::Unknown;
        }
        match (self.at, self.hash) {
            (None, _) => Left::Nothing,
            (Some(at), Some(hash)) => match keys.get(at) {
                Some(key) => Left::Entry { key: key.clone(), hash },
                None => Left::Unknown,
            },
            (Some(_), None) => Left::Unknown,
        }
    }
}
