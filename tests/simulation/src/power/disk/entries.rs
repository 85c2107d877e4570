//! Directory entries of the simulated disk: the visible entries, the durable entries, and the changes between them.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use rand::RngExt;
use rand::rngs::StdRng;

/// The object to which a path refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::power) enum Entry {
    Folder,
    /// A file, identified by its number.
    File(usize),
}

/// A change to one directory entry. `Some` sets the entry, and `None` removes it.
#[derive(Clone, Debug)]
pub(in crate::power) struct NameChange {
    path: OsString,
    entry: Option<Entry>,
}

impl NameChange {
    pub(super) fn set(path: &Path, entry: Entry) -> Self {
        Self { path: path.into(), entry: Some(entry) }
    }

    pub(super) fn remove(path: &Path) -> Self {
        Self { path: path.into(), entry: None }
    }
}

/// The entries by path. The engine always spells a path in the same way, so paths are compared byte by byte. This is faster than comparing their components.
type Names = BTreeMap<OsString, Entry>;

/// Returns the name of a path in a folder. Returns `None` if the path is not directly in the folder.
fn name_in<'a>(path: &'a OsStr, folder: &Path) -> Option<&'a str> {
    let folder = folder.to_str()?;
    let name = path.to_str()?.strip_prefix(folder.strip_suffix('/').unwrap_or(folder))?.strip_prefix('/')?;
    (!name.contains('/')).then_some(name)
}

/// All entries of a disk.
#[derive(Clone, Debug, Default)]
pub(in crate::power) struct Entries {
    seen: Names,
    durable: Names,
    /// The unsynced changes, in order. The changes of one rename form a group.
    pending: Vec<Vec<NameChange>>,
}

/// Determines which unsynced changes survive a power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::power) enum Survive {
    None,
    All,
    /// In each folder, only the first changes survive, as in a journaling file system.
    First,
    /// Each change survives or is lost, independently of the others.
    Any,
}

fn apply(names: &mut Names, changes: &[NameChange]) {
    for NameChange { path, entry } in changes {
        match entry {
            Some(entry) => drop(names.insert(path.clone(), *entry)),
            None => drop(names.remove(path)),
        }
    }
}

fn folder(changes: &[NameChange]) -> Option<&Path> {
    Path::new(&changes.first()?.path).parent()
}

impl Entries {
    pub(super) fn contains(&self, path: &Path) -> bool {
        path == Path::new("/") || self.seen.contains_key(path.as_os_str())
    }

    pub(super) fn file(&self, path: &Path) -> Option<usize> {
        match self.seen.get(path.as_os_str()) {
            Some(Entry::File(number)) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn files(&self) -> impl Iterator<Item = (&Path, usize)> {
        self.seen.iter().filter_map(|(path, entry)| match entry {
            Entry::File(number) => Some((Path::new(path), *number)),
            Entry::Folder => None,
        })
    }

    /// Returns the numbers of all files that have a name, or may have one after a power loss.
    pub(in crate::power) fn numbers(&self) -> HashSet<usize> {
        let pending = self.pending.iter().flatten().filter_map(|change| change.entry);
        let all = self.seen.values().chain(self.durable.values()).copied().chain(pending);
        all.filter_map(|entry| if let Entry::File(number) = entry { Some(number) } else { None }).collect()
    }

    /// Returns the names in a folder.
    pub(super) fn inside(&self, folder: &Path) -> Vec<String> {
        self.seen.keys().filter_map(|path| name_in(path, folder).map(str::to_owned)).collect()
    }

    /// Applies several changes atomically.
    pub(super) fn change(&mut self, changes: Vec<NameChange>) {
        apply(&mut self.seen, &changes);
        self.pending.push(changes);
    }

    /// Adds or replaces an entry durably.
    pub(super) fn put(&mut self, path: &Path, entry: Entry) {
        self.take_away(path);
        self.seen.insert(path.into(), entry);
        self.durable.insert(path.into(), entry);
    }

    /// Makes the entries of a folder durable.
    pub(super) fn sync(&mut self, synced: &Path) {
        let is_inside = |changes: &mut Vec<NameChange>| {
            changes.first().is_some_and(|change| name_in(&change.path, synced).is_some())
        };
        for changes in self.pending.extract_if(.., is_inside) {
            apply(&mut self.durable, &changes);
        }
    }

    /// Removes all entries of a folder durably.
    pub(super) fn clear(&mut self, folder: &Path) {
        let is_inside = |path: &OsStr| name_in(path, folder).is_some();
        self.seen.retain(|path, _| !is_inside(path));
        self.durable.retain(|path, _| !is_inside(path));
        self.pending.retain(|changes| !changes.iter().any(|change| is_inside(&change.path)));
    }

    pub(super) fn take_away(&mut self, path: &Path) {
        let path = path.as_os_str();
        self.seen.remove(path);
        self.durable.remove(path);
        self.pending.retain(|changes| changes.iter().all(|change| change.path != path));
    }

    /// Returns the entries that remain after a power loss. If a folder is lost, so are its contents.
    pub(in crate::power) fn after_power_loss(&self, survive: Survive, random: &mut StdRng) -> Self {
        let mut names = self.durable.clone();
        let mut cut: Vec<Option<&Path>> = Vec::new();
        for changes in &self.pending {
            let folder = folder(changes);
            let survives = match survive {
                Survive::None => false,
                Survive::All => true,
                Survive::Any => random.random(),
                Survive::First => !cut.contains(&folder) && random.random_ratio(2, 3),
            };
            if survives {
                apply(&mut names, changes);
            } else {
                cut.push(folder);
            }
        }
        let all = names.clone();
        let reached = |path: &Path| {
            let mut above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
            above.all(|above| above == Path::new("/") || all.contains_key(above.as_os_str()))
        };
        names.retain(|path, _| reached(path.as_ref()));
        Self { seen: names.clone(), durable: names, pending: Vec::new() }
    }
}
