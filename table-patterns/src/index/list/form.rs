//! The format of list entities: the properties that contain the members, and their encoding (PAT-IX-4).

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use table_core::key::EntityKey;
use table_core::limits::Limits;
use table_core::row::{Row, RowView, RowWriter, entity_bytes};
use table_core::schema::{EntitySchema, IndexSchema, KeyPiece, PropertySchema};
use table_core::{EdmType, Error, Result, ValueRef};

use crate::blob::BlobRef;
use crate::index::list::fault::ListFault;

/// A list member that is stored as parts. These are the parts of the entity's key that the list's key does not contain, with the parts of the `RowKey` first.
pub(crate) type Member = Vec<String>;

/// The members of a list as stored in an entity.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StoredMembers {
    /// The parts of each member, in [`Member`] order.
    Parts(BTreeSet<Member>),
    /// The keys of the entities.
    Keys(BTreeSet<EntityKey>),
}

/// The storage format of an index's lists.
#[derive(Clone, Debug)]
pub(crate) struct ListForm {
    pub(super) index: &'static IndexSchema,
    /// The name of the first property of a list of parts. It is `EmployeeIDs` if one string identifies a member, and `EmployeeDetails` if several strings do.
    parts: String,
    /// The name of the first property of a list of keys: `EmployeeKeys`.
    pub(super) keys: String,
    /// The names of the key parts that identify a member, in [`Member`] order.
    names: Vec<&'static str>,
    /// `true` if lists store whole keys, `false` if they store parts. Whole keys are necessary if the order of the parts would depend on the struct's field order,
    /// or if a part is not a string.
    pub(super) has_keys: bool,
}

impl ListForm {
    pub(crate) fn new(entity: &EntitySchema, index: &'static IndexSchema) -> Self {
        let in_partition_key = |field: &str| {
            let is_it =
                |piece: &KeyPiece| matches!(piece, KeyPiece::Field { field: name, .. } if *name == field);
            entity.partition_key.iter().any(is_it)
        };
        let (behind, mut parts): (Vec<_>, Vec<_>) =
            index.properties.iter().partition(|part| in_partition_key(part.field));
        let is_text = |part: &&PropertySchema| part.edm == EdmType::String && !part.optional;
        let has_one_order = parts.len() <= 1 && behind.len() <= 1;
        parts.extend(behind);
        let has_keys = !has_one_order || !parts.iter().all(is_text);
        let what = if parts.len() == 1 { "IDs" } else { "Details" };
        let [parts_name, keys] = [what, "Keys"].map(|what| format!("{}{what}", entity.entity));
        Self {
            index,
            parts: parts_name,
            keys,
            names: parts.into_iter().map(|part| part.name).collect(),
            has_keys,
        }
    }

    pub(crate) const fn index(&self) -> &'static IndexSchema {
        self.index
    }

    /// Returns the name of the property that refers to a list's blob, such as `EmployeeIDsBlob`.
    fn blob_name(&self) -> String {
        format!("{}Blob", self.parts)
    }

    /// Returns the address of the blob that contains a list. Returns `None` if the list is stored in the entity itself.
    ///
    /// # Errors
    /// `EntityMismatch` if the property is not a valid blob address.
    pub(crate) fn blob(&self, list: RowView<'_>) -> Result<Option<BlobRef>> {
        let name = self.blob_name();
        match list.find(&name, &mut 0)? {
            None => Ok(None),
            Some(ValueRef::String(text)) if list.len() == 1 => {
                text.parse().map(Some).map_err(|error: Error| self.broken(&name).with_source(error))
            }
            Some(_) => Err(self.broken(&name)),
        }
    }

    /// Returns the row of an index entity whose list is stored in `blob`.
    pub(crate) fn pointer(&self, blob: &BlobRef) -> Row {
        let mut row = RowWriter::with_capacity(1);
        row.property(&self.blob_name(), ValueRef::String(&blob.to_string()));
        row.finish()
    }

    /// Converts an index entry to a list member stored as parts. Returns `None` if a part is not a string.
    pub(crate) fn member(&self, row: &Row) -> Option<Member> {
        let mut hint = 0;
        let text = |name: &&str| match row.view().find(name, &mut hint) {
            Ok(Some(ValueRef::String(text))) => Some(text.to_owned()),
            _ => None,
        };
        self.names.iter().map(text).collect()
    }

    /// Converts a list member stored as parts to the properties of an index entry.
    pub(crate) fn row(&self, member: &Member) -> Row {
        let mut row = RowWriter::with_capacity(member.len());
        for (name, text) in self.names.iter().zip(member) {
            row.property(name, ValueRef::String(text));
        }
        row.finish()
    }

    /// Returns the members of a list that is stored in the entity with the key `key`.
    ///
    /// # Errors
    /// `EntityMismatch` if the row is not a list of this index.
    pub(crate) fn read(&self, key: &EntityKey, list: RowView<'_>) -> Result<StoredMembers> {
        if self.has_keys {
            return self.read_keys(key, list).map(StoredMembers::Keys);
        }
        let members = match self.names.len() {
            1 => {
                pieces(&self.parts, list, |name| self.broken(name))?.into_iter().map(|id| vec![id]).collect()
            }
            _ => BTreeSet::from_iter(pieces::<Member>(&self.parts, list, |name| self.broken(name))?),
        };
        if members.iter().any(|member| member.len() != self.names.len()) {
            return Err(self.broken(&self.parts));
        }
        Ok(StoredMembers::Parts(members))
    }

    fn read_keys(&self, key: &EntityKey, list: RowView<'_>) -> Result<BTreeSet<EntityKey>> {
        let broken = |name: &str| self.broken(name);
        let owner = |(partition_key, row_key): (String, String)| {
            EntityKey::new(partition_key, row_key).map_err(|error| broken(&self.keys).with_source(error))
        };
        if self.index.is_same_partition() {
            let own = |row_key| owner((key.partition_key.as_str().to_owned(), row_key));
            return pieces(&self.keys, list, broken)?.into_iter().map(own).collect();
        }
        pieces(&self.keys, list, broken)?.into_iter().map(owner).collect()
    }

    /// Returns an error if a list exceeds its declared bound. Call this only for a list that has grown. The bound may have been lowered since the list was
    /// written, and it must remain possible to remove members.
    ///
    /// # Errors
    /// `IndexListFull` (PAT-IX-4).
    pub(crate) fn check_bound(&self, members: usize) -> Result<()> {
        match self.index.at_most {
            Some(most) if members > usize::try_from(most).unwrap_or(usize::MAX) => {
                Err(Error::of(ListFault::Bound { index: self.index.name, most }))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn write_parts(
        &self,
        key: &EntityKey,
        members: &BTreeSet<Member>,
        limits: &Limits,
    ) -> Result<Row> {
        let member = |member: &Member| match &member[..] {
            [id] => serde_json::to_string(id),
            details => serde_json::to_string(details),
        };
        self.write_pieces((&self.parts, key), members.iter().map(member), limits)
    }

    pub(super) fn write_pieces(
        &self,
        (property, key): (&str, &EntityKey),
        members: impl ExactSizeIterator<Item = serde_json::Result<String>>,
        limits: &Limits,
    ) -> Result<Row> {
        let count = members.len();
        let mut row = RowWriter::new();
        let (mut text, mut units, mut piece) = (String::from("["), 2, 0);
        for json in members {
            let json = json.map_err(|error| self.broken(property).with_source(error))?;
            let more = json.encode_utf16().count() + 1;
            if units + more > limits.string_units && text.len() > 1 {
                text.push(']');
                row.property(&name_of(property, piece), ValueRef::String(&text));
                (text, units, piece) = (String::from("["), 2, piece + 1);
            }
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&json);
            units += more;
        }
        text.push(']');
        row.property(&name_of(property, piece), ValueRef::String(&text));
        self.within(row.finish(), (key, count), limits)
    }

    /// Returns a row with `count` members, provided that it fits into an entity.
    ///
    /// # Errors
    /// `IndexListFull` (PAT-IX-4).
    pub(super) fn within(&self, row: Row, (key, count): (&EntityKey, usize), limits: &Limits) -> Result<Row> {
        let bytes = entity_bytes(key.partition_key.as_str(), key.row_key.as_str(), Some(&row));
        let is_within = row.view().len() <= limits.properties && limits.check_entity_bytes(bytes).is_ok();
        if is_within { Ok(row) } else { Err(self.full(count)) }
    }

    /// Returns the error for a list that does not fit into an entity.
    pub(super) fn full(&self, keys: usize) -> Error {
        Error::of(ListFault::Full { index: self.index.name, keys })
    }

    /// Returns the error for a list that needs a blob, if the handle has no blob store.
    pub(crate) fn without_blobs(&self) -> Error {
        Error::of(ListFault::WithoutBlobs(self.index.name))
    }

    /// Returns the error for a list with members that are not valid entity keys.
    pub(crate) fn invalid_members_fault(&self) -> Error {
        self.broken(&self.parts)
    }

    fn broken(&self, name: &str) -> Error {
        Error::of(ListFault::Broken(self.index.name)).with_property(name)
    }
}

/// Returns the name of the property with chunk number `piece` of a list: `EmployeeIDs`, `EmployeeIDs1`, …
fn name_of(first: &str, piece: usize) -> String {
    if piece == 0 { first.to_owned() } else { format!("{first}{piece}") }
}

/// Returns the members from all properties of a list. `first` is the name of the list's first property. `broken` returns the error for an invalid property.
fn pieces<T: DeserializeOwned>(
    first: &str,
    list: RowView<'_>,
    broken: impl Fn(&str) -> Error,
) -> Result<Vec<T>> {
    let mut members = Vec::new();
    // The row has one property per chunk. If a property has an unexpected name, a chunk is therefore missing.
    for piece in 0..list.len().max(1) {
        let name = name_of(first, piece);
        let Some(ValueRef::String(text)) = list.find(&name, &mut { piece })? else {
            return Err(broken(&name));
        };
        members.extend(serde_json::from_str::<Vec<T>>(text).map_err(|_| broken(&name))?);
    }
    Ok(members)
}
