//! The members of a list, as read from an entity or a blob.

use std::collections::{BTreeMap, BTreeSet};

use table_core::key::EntityKey;
use table_core::row::Row;
use table_core::{Error, Result};

use crate::blob::BlobRef;
use crate::index::changes::OwnerOf;
use crate::index::list::fault::ListFault;
use crate::index::list::{ListForm, Member};

/// The members of one list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Members {
    /// The keys of the entities in the list, each with its encoded form if the list is stored in an entity. A blob contains only keys.
    owners: BTreeMap<EntityKey, Option<Member>>,
    /// Encoded members that determine no valid entity key. They are kept until a repair removes them.
    strays: BTreeSet<Member>,
    /// The blob that the list was read from; `None` for a list in an entity.
    blob: Option<BlobRef>,
}

impl Members {
    /// Decodes the members of a list that is stored in an entity.
    ///
    /// # Errors
    /// `EntityMismatch` if the row is not a list of this index.
    pub(crate) fn of_entity(owner_of: OwnerOf, form: &ListForm, key: &EntityKey, row: &Row) -> Result<Self> {
        let mut members = Self::default();
        for member in form.read(row.view())? {
            match owner_of(form.index(), key, &form.row(&member)) {
                Some(owner) => drop(members.owners.insert(owner, Some(member))),
                None => drop(members.strays.insert(member)),
            }
        }
        Ok(members)
    }

    /// Creates the members of a list that is stored in a blob.
    pub(crate) fn of_blob(blob: BlobRef, owners: BTreeSet<EntityKey>) -> Self {
        let owners = owners.into_iter().map(|owner| (owner, None)).collect();
        Self { owners, strays: BTreeSet::new(), blob: Some(blob) }
    }

    /// Returns the keys of the entities in the list, in order.
    pub(crate) fn owners(&self) -> impl ExactSizeIterator<Item = &EntityKey> {
        self.owners.keys()
    }

    /// Returns the number of members that determine no valid entity key.
    pub(crate) fn strays(&self) -> usize {
        self.strays.len()
    }

    /// Returns the blob that the list was read from.
    pub(crate) const fn blob(&self) -> Option<&BlobRef> {
        self.blob.as_ref()
    }

    pub(crate) fn len(&self) -> usize {
        self.owners.len() + self.strays.len()
    }

    pub(crate) fn contains(&self, owner: &EntityKey) -> bool {
        self.owners.contains_key(owner)
    }

    pub(crate) fn join(&mut self, owner: EntityKey, member: Member) {
        match self.owners.get(&owner) {
            // The blob already contains this owner.
            Some(None) => {}
            _ => drop(self.owners.insert(owner, Some(member))),
        }
    }

    pub(crate) fn leave(&mut self, owner: &EntityKey) {
        self.owners.remove(owner);
    }

    /// Removes the members that determine no valid entity key.
    pub(crate) fn leave_strays(&mut self) {
        self.strays.clear();
    }

    /// Returns the members as encoded in an entity; `None` if they were read from a blob, which contains only keys.
    pub(crate) fn texts(&self) -> Option<BTreeSet<Member>> {
        let owned: Option<BTreeSet<Member>> = self.owners.values().cloned().collect();
        let mut texts = owned?;
        texts.extend(self.strays.iter().cloned());
        Some(texts)
    }

    /// Checks that a list can move to a blob. The move would drop members that determine no valid entity key.
    ///
    /// # Errors
    /// `EntityMismatch` if such a member exists.
    pub(crate) fn check_owned(&self, form: &ListForm) -> Result<()> {
        let Some(stray) = self.strays.first() else { return Ok(()) };
        Err(Error::of(ListFault::Stray { index: form.index().name, stray: format!("{stray:?}") }))
    }
}
