//! The members of a list, read from an entity or a blob.

use std::collections::{BTreeMap, BTreeSet};

use table_core::key::EntityKey;
use table_core::row::Row;
use table_core::{Error, Result};

use crate::blob::BlobRef;
use crate::index::changes::OwnerOf;
use crate::index::list::fault::ListFault;
use crate::index::list::{ListForm, Member, StoredMembers};

/// The members of one list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Members {
    /// The keys of the entities in the list, each with its parts if they are known. Blobs, and entities with whole keys, contain no parts.
    owners: BTreeMap<EntityKey, Option<Member>>,
    /// Encoded members that are not valid entity keys. They are kept until a repair removes them.
    invalid: BTreeSet<Member>,
    /// `true` if the list is [marked](crate::index::mark).
    is_marked: bool,
    /// The blob from which the list was read. `None` for a list that is stored in an entity.
    blob: Option<BlobRef>,
}

impl Members {
    /// Decodes the members of a list stored in an entity.
    ///
    /// # Errors
    /// `EntityMismatch` if the row is not a list of this index.
    pub(crate) fn of_entity(owner_of: OwnerOf, form: &ListForm, key: &EntityKey, row: &Row) -> Result<Self> {
        let is_marked = ListForm::is_marked(row.view())?;
        let parts = match form.read(key, row.view())? {
            StoredMembers::Parts(parts) => parts,
            StoredMembers::Keys(owners) => return Ok(Self { is_marked, ..Self::of_keys(owners) }),
        };
        let mut members = Self { is_marked, ..Self::default() };
        for member in parts {
            match owner_of(form.index(), key, &form.row(&member)) {
                Some(owner) => drop(members.owners.insert(owner, Some(member))),
                None => drop(members.invalid.insert(member)),
            }
        }
        Ok(members)
    }

    /// Creates the members of a list stored in a blob.
    pub(crate) fn of_blob(blob: BlobRef, (owners, is_marked): (BTreeSet<EntityKey>, bool)) -> Self {
        Self { blob: Some(blob), is_marked, ..Self::of_keys(owners) }
    }

    fn of_keys(owners: BTreeSet<EntityKey>) -> Self {
        Self { owners: owners.into_iter().map(|owner| (owner, None)).collect(), ..Self::default() }
    }

    /// Returns the keys of the entities in the list, in order.
    pub(crate) fn owners(&self) -> impl ExactSizeIterator<Item = &EntityKey> {
        self.owners.keys()
    }

    /// Returns the number of members that are not valid entity keys.
    pub(crate) fn invalid_members(&self) -> usize {
        self.invalid.len()
    }

    /// Returns `true` if the list is [marked](crate::index::mark).
    pub(crate) const fn is_marked(&self) -> bool {
        self.is_marked
    }

    /// Marks the list. Adding or removing a member removes the mark.
    pub(crate) const fn mark(&mut self) {
        self.is_marked = true;
    }

    pub(crate) const fn unmark(&mut self) {
        self.is_marked = false;
    }

    /// Returns the blob from which the list was read. Returns `None` for a list that is stored in an entity.
    pub(crate) const fn blob(&self) -> Option<&BlobRef> {
        self.blob.as_ref()
    }

    pub(crate) fn len(&self) -> usize {
        self.owners.len() + self.invalid.len()
    }

    pub(crate) fn contains(&self, owner: &EntityKey) -> bool {
        self.owners.contains_key(owner)
    }

    /// Adds an entity. `member` contains the parts of its key, if they are strings.
    pub(crate) fn join(&mut self, owner: EntityKey, member: Option<Member>) {
        self.is_marked = false;
        match self.owners.get(&owner) {
            // The list stores keys, and already contains this owner.
            Some(None) => {}
            _ => drop(self.owners.insert(owner, member)),
        }
    }

    pub(crate) fn leave(&mut self, owner: &EntityKey) {
        if self.owners.remove(owner).is_some() {
            self.is_marked = false;
        }
    }

    /// Removes the members that are not valid entity keys.
    pub(crate) fn remove_invalid_members(&mut self) {
        self.invalid.clear();
    }

    /// Returns the parts of all members. Returns `None` if the parts of any member are unknown.
    pub(crate) fn texts(&self) -> Option<BTreeSet<Member>> {
        let owned: Option<BTreeSet<Member>> = self.owners.values().cloned().collect();
        let mut texts = owned?;
        texts.extend(self.invalid.iter().cloned());
        Some(texts)
    }

    /// Checks that a list can be stored as keys, for example in a blob. Members that are not valid entity keys would be lost.
    ///
    /// # Errors
    /// `EntityMismatch` if the list has a member that is not a valid entity key.
    pub(crate) fn check_owned(&self, form: &ListForm) -> Result<()> {
        let Some(invalid) = self.invalid.first() else { return Ok(()) };
        Err(Error::of(ListFault::Stray { index: form.index().name, stray: format!("{invalid:?}") }))
    }
}
