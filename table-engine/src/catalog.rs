//! The catalog: the tables and their ids, and the names of tables that are being deleted.

mod fault;

use std::ops::{Bound, RangeInclusive};
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use table_store::name::TableName;
use table_store::store::TablePage;
use table_store::{Error, Result};

use fault::CatalogFault;

/// A table in the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableEntry {
    /// The id, which is at the start of the table's keys. Ids are never reused, so a recreated table gets a new one.
    pub(crate) id: u32,
    /// The name in its original case (TBL-2).
    pub(crate) name: TableName,
    /// The creation time of the table, in ticks. A table that replaces another keeps the other's creation time, because programs see both as the same table.
    pub(crate) created: u64,
}

/// The tables, keyed by folded (lower-case) name. Cloning is O(1).
#[derive(Clone, Debug)]
pub(crate) struct Catalog {
    tables: OrdMap<Arc<str>, TableEntry>,
    names: OrdMap<u32, Arc<str>>,
    /// The names of tables that are being deleted. Each name has the time, in ticks, at which the deletion completes (OPT-4, ENG-9).
    leaving: OrdMap<Arc<str>, u64>,
    /// The names in `leaving`, sorted by the time at which their deletion completes. Expired names are removed from the start.
    leaving_until: OrdSet<(u64, Arc<str>)>,
    next_id: u32,
}

impl Default for Catalog {
    fn default() -> Self {
        Self {
            tables: OrdMap::new(),
            names: OrdMap::new(),
            leaving: OrdMap::new(),
            leaving_until: OrdSet::new(),
            next_id: 1,
        }
    }
}

impl Catalog {
    /// Returns the table with the given name.
    ///
    /// # Errors
    /// - `TableNotFound` if the table does not exist (OPT-6).
    /// - `TableBeingDeleted` while its deletion is in progress (OPT-4).
    pub(crate) fn find(&self, name: &TableName, now: impl Fn() -> u64) -> Result<&TableEntry> {
        if let Some(entry) = self.tables.get(name.folded()) {
            return Ok(entry);
        }
        self.check_leaving(name, now)?;
        Err(Error::of(CatalogFault::NotFound).with_table(name.as_str()))
    }

    fn check_leaving(&self, name: &TableName, now: impl Fn() -> u64) -> Result<()> {
        match self.leaving.get(name.folded()) {
            Some(until) if now() < *until => {
                Err(Error::of(CatalogFault::BeingDeleted).with_table(name.as_str()))
            }
            _ => Ok(()),
        }
    }

    /// Returns the catalog entry for a table to be created.
    ///
    /// # Errors
    /// - `TableAlreadyExists` if the table exists (OPT-2).
    /// - `TableBeingDeleted` while its deletion is in progress (OPT-4).
    pub(crate) fn prepare_create(&self, name: &TableName, now: u64, created: u64) -> Result<TableEntry> {
        self.check_leaving(name, || now)?;
        if let Some(entry) = self.tables.get(name.folded()) {
            return Err(Error::of(CatalogFault::Exists(entry.name.clone())).with_table(name.as_str()));
        }
        self.new_entry(name, created)
    }

    fn new_entry(&self, name: &TableName, created: u64) -> Result<TableEntry> {
        // The last id is never assigned, because the key range of a table ends where the next id begins.
        if self.next_id == u32::MAX {
            return Err(Error::of(CatalogFault::NoIds).with_table(name.as_str()));
        }
        Ok(TableEntry { id: self.next_id, name: name.clone(), created })
    }

    /// Returns the id of the table to drop.
    ///
    /// # Errors
    /// - `ResourceNotFound` if the table does not exist (OPT-3).
    /// - `TableBeingDeleted` while its deletion is in progress (OPT-4).
    pub(crate) fn prepare_drop(&self, name: &TableName, now: u64) -> Result<u32> {
        self.check_leaving(name, || now)?;
        let entry = self.tables.get(name.folded());
        let missing = || Error::of(CatalogFault::NothingToDrop).with_table(name.as_str());
        entry.map(|entry| entry.id).ok_or_else(missing)
    }

    /// Returns the catalog entry for an empty table that will replace an existing one. The entry contains the creation time of the existing table. A replay of
    /// the journal therefore need not find the existing table in the catalog.
    ///
    /// # Errors
    /// - `TableNotFound` if the table does not exist (OPT-6).
    /// - `TableBeingDeleted` while its deletion is in progress (OPT-4).
    pub(crate) fn prepare_renew(&self, name: &TableName, now: u64) -> Result<TableEntry> {
        let replaced = self.find(name, || now)?;
        self.new_entry(&replaced.name, replaced.created)
    }

    /// Adds a table. If it replaces a table with the same name, returns the id of that table, whose rows can then be removed.
    pub(crate) fn add(&mut self, entry: TableEntry) -> Option<u32> {
        self.next_id = self.next_id.max(entry.id.saturating_add(1));
        if let Some((name, until)) = self.leaving.remove_with_key(entry.name.folded()) {
            self.leaving_until.remove(&(until, name));
        }
        let folded: Arc<str> = entry.name.folded().into();
        self.names.insert(entry.id, Arc::clone(&folded));
        let replaced = self.tables.insert(folded, entry)?.id;
        self.names.remove(&replaced);
        Some(replaced)
    }

    /// Removes a table, if it exists.
    pub(crate) fn remove(&mut self, id: u32) {
        self.take(id);
    }

    /// Removes a table. From `now` until `until`, requests for the table's name return `TableBeingDeleted`.
    pub(crate) fn remove_slowly(&mut self, id: u32, now: u64, until: u64) {
        while let Some((end, name)) = self.leaving_until.get_min().filter(|(end, _)| *end <= now).cloned() {
            self.leaving.remove(&name);
            self.leaving_until.remove(&(end, name));
        }
        if let Some(folded) = self.take(id).filter(|_| now < until) {
            self.leaving.insert(Arc::clone(&folded), until);
            self.leaving_until.insert((until, folded));
        }
    }

    fn take(&mut self, id: u32) -> Option<Arc<str>> {
        let folded = self.names.remove(&id)?;
        self.tables.remove(&folded);
        Some(folded)
    }

    /// Returns `true` if a table has this id.
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.names.contains_key(&id)
    }

    /// Returns `true` if a table has an id in this range.
    pub(crate) fn contains_any(&self, ids: RangeInclusive<u32>) -> bool {
        !ids.is_empty() && self.names.range(ids).next().is_some()
    }

    /// Returns the number of tables, including internal tables.
    pub(crate) fn len(&self) -> usize {
        self.tables.len()
    }

    /// Returns the number of tables, excluding internal tables such as queue tables. The names of internal tables do not begin with a letter.
    pub(crate) fn listed(&self) -> usize {
        let internal = self.tables.range::<_, str>((Bound::Unbounded, Bound::Excluded("a")));
        self.tables.len() - internal.count()
    }

    /// Returns the id of the next table.
    pub(crate) fn next_id(&self) -> u32 {
        self.next_id
    }

    /// Ensures that the id of the next table is at least the given id.
    pub(crate) fn reserve_ids(&mut self, next_id: u32) {
        self.next_id = self.next_id.max(next_id);
    }

    /// Returns the tables whose ids are in a range, sorted by id.
    pub(crate) fn within(&self, ids: RangeInclusive<u32>) -> impl Iterator<Item = &TableEntry> {
        self.names.range(ids).filter_map(|(_, folded)| self.tables.get(folded))
    }

    /// Returns all tables, sorted by their folded names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &TableEntry> {
        self.tables.values()
    }

    /// Returns the folded names in order, starting at `folded`. This includes the engine's private tables.
    pub(crate) fn from(&self, folded: &str) -> impl Iterator<Item = &str> {
        let range = (Bound::Included(folded), Bound::Unbounded);
        self.tables.range::<_, str>(range).map(|(name, _)| &**name)
    }

    /// Returns one page of names (OPT-5, PAGE-12). `prefix` and `from` ignore case, like every comparison of table names (TBL-2).
    pub(crate) fn page(&self, prefix: &str, from: Option<&str>, top: usize) -> TablePage {
        let prefix = prefix.to_ascii_lowercase();
        // The names of a program's tables begin with a letter. The engine's private tables are not listed. Their names begin with `$`, so they sort first.
        let from = from.map(str::to_ascii_lowercase).unwrap_or_default();
        let start = from.max(prefix.clone()).max("a".to_owned());
        let mut found = self
            .tables
            .range::<_, str>((Bound::Included(start.as_str()), Bound::Unbounded))
            .map(|(_, entry)| entry);
        let mut names = Vec::new();
        let next = loop {
            match found.next() {
                Some(entry) if entry.name.folded().starts_with(&prefix) => {
                    if names.len() == top {
                        break (top > 0).then(|| entry.name.as_str().to_owned());
                    }
                    names.push(entry.name.clone());
                }
                _ => break None,
            }
        };
        TablePage { names, next }
    }
}

#[cfg(test)]
mod tests {
    use table_store::ErrorCode;

    use super::*;

    fn catalog(names: &[&str]) -> Catalog {
        let mut catalog = Catalog::default();
        for name in names {
            let entry = catalog.prepare_create(&TableName::new(name).unwrap(), 5, 5).unwrap();
            catalog.add(entry);
        }
        catalog
    }

    #[test]
    fn tbl_2_names_ignore_case_and_keep_their_original_spelling() {
        let catalog = catalog(&["Employee"]);
        let other_case = TableName::new("EMPLOYEE").unwrap();
        let error = catalog.prepare_create(&other_case, 5, 5).unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::TableAlreadyExists, Some("OPT-2")));
        assert_eq!(catalog.find(&other_case, || 0).unwrap().name.as_str(), "Employee");
    }

    #[test]
    fn page_12_and_opt_5_pages_of_names_in_order() {
        let catalog = catalog(&["Beta", "alpha2", "Alpha1", "gamma", "alpha3"]);
        let texts = |page: &TablePage| page.names.iter().map(|n| n.as_str().to_owned()).collect::<Vec<_>>();
        let page = catalog.page("", None, 2);
        assert_eq!(
            (texts(&page), page.next.as_deref()),
            (vec!["Alpha1".into(), "alpha2".into()], Some("alpha3"))
        );
        let page = catalog.page("", page.next.as_deref(), 1_000);
        assert_eq!((texts(&page), page.next), (vec!["alpha3".into(), "Beta".into(), "gamma".into()], None));
        let page = catalog.page("alpha", None, 3);
        assert_eq!((page.names.len(), page.next), (3, None)); // PAGE-5
        assert_eq!(catalog.page("", None, 0), TablePage::default()); // ENG-5
    }

    #[test]
    fn que_3_internal_tables_are_not_listed_and_cannot_be_named_by_programs() {
        let mut catalog = catalog(&["Employee"]);
        let own = TableName::internal("queue-work");
        catalog.add(catalog.prepare_create(&own, 5, 5).unwrap());
        for prefix in ["", "$", "e"] {
            assert!(catalog.page(prefix, None, 10).names.iter().all(|name| name.as_str() == "Employee"));
        }
        assert_eq!(catalog.page("", Some("$"), 10).names.len(), 1);
        assert!(TableName::new(own.as_str()).is_err());
        assert_eq!(TableName::stored(own.as_str()).unwrap(), own);
    }

    #[test]
    fn a_renewed_table_gets_a_new_id_atomically_and_keeps_its_creation_time() {
        let mut catalog = catalog(&["Employee"]);
        let name = TableName::new("employee").unwrap();
        let entry = catalog.prepare_renew(&name, 9).unwrap();
        assert_eq!(catalog.add(entry), Some(1));
        assert!(!catalog.contains(1) && catalog.contains(2));
        let renewed = catalog.find(&name, || 9).unwrap();
        assert_eq!((renewed.name.as_str(), renewed.created), ("Employee", 5));
        assert!(catalog.prepare_renew(&TableName::new("Other").unwrap(), 9).is_err());
    }

    #[test]
    fn a_recreated_table_has_a_new_id_and_eng_9_its_name_waits() {
        let mut catalog = catalog(&["Employee"]);
        let name = TableName::new("employee").unwrap();
        catalog.remove_slowly(1, 50, 100);
        assert_eq!(catalog.prepare_create(&name, 99, 99).unwrap_err().code(), ErrorCode::TableBeingDeleted);
        assert_eq!(catalog.find(&name, || 99).unwrap_err().code(), ErrorCode::TableBeingDeleted);
        assert_eq!(catalog.find(&name, || 100).unwrap_err().code(), ErrorCode::TableNotFound);
        assert_eq!(catalog.prepare_create(&name, 100, 100).unwrap().id, 2);
        assert_eq!(catalog.prepare_drop(&name, 100).unwrap_err().rule(), Some("OPT-3"));
    }

    #[test]
    fn eng_9_names_of_deleted_tables_are_forgotten_after_the_delay() {
        let mut catalog = Catalog::default();
        let mut most = 0;
        for now in 0..1_000 {
            let name = TableName::new(&format!("Log{now:04}")).unwrap();
            let entry = catalog.prepare_create(&name, now, now).unwrap();
            let id = entry.id;
            catalog.add(entry);
            catalog.remove_slowly(id, now, now + 10);
            assert_eq!(catalog.find(&name, || now + 9).unwrap_err().code(), ErrorCode::TableBeingDeleted);
            assert_eq!(catalog.leaving.len(), catalog.leaving_until.len());
            most = most.max(catalog.leaving.len());
        }
        assert_eq!(most, 10);
        // The table `Log0999` is created again, so its name is removed from the list of tables being deleted.
        let name = TableName::new("Log0999").unwrap();
        catalog.add(catalog.prepare_create(&name, 1_009, 1_009).unwrap());
        assert_eq!(catalog.leaving.len(), catalog.leaving_until.len());
    }
}
