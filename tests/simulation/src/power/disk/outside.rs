//! Lets other programs inspect and change a disk without the engine's knowledge.

use std::path::{Path, PathBuf};

use super::{Entry, FileState, SimulatedDisk};

impl SimulatedDisk {
    /// Returns all files with their lengths, sorted by path.
    #[must_use]
    pub fn files(&self) -> Vec<(PathBuf, usize)> {
        let state = self.state();
        let file =
            |(path, number): (&Path, usize)| Some((path.to_owned(), state.files.get(number)?.current.len()));
        state.entries.files().filter_map(file).collect()
    }

    /// Returns `true` if a program has locked a file.
    #[must_use]
    pub fn is_locked(&self, path: &Path) -> bool {
        let state = self.state();
        state.entries.file(path).is_some_and(|number| state.locked.contains(&number))
    }

    /// Returns the bytes of a file as programs see them, or `None` if the file is missing.
    #[must_use]
    pub fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state();
        Some(state.files.get(state.entries.file(path)?)?.current.to_vec())
    }

    /// Durably changes the bytes of a file without the knowledge of any program.
    pub fn damage(&self, path: &Path, change: impl Fn(&mut Vec<u8>)) {
        let mut state = self.state();
        if let Some(file) = state.entries.file(path).and_then(|number| state.files.get_mut(number)) {
            for content in [&mut file.current, &mut file.durable] {
                let mut bytes = content.to_vec();
                change(&mut bytes);
                *content = (&*bytes).into();
            }
        }
    }

    /// Makes the sector at an offset in a file unreadable.
    pub fn spoil(&self, path: &Path, offset: usize) {
        let mut state = self.state();
        if let Some(file) = state.entries.file(path).and_then(|number| state.files.get_mut(number)) {
            file.unreadable = Some(offset);
        }
    }

    /// Durably removes a file without the knowledge of any program.
    pub fn take_away(&self, path: &Path) {
        self.state().entries.take_away(path);
    }

    /// Durably creates or replaces a file.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let mut state = self.state();
        state.files.push(FileState::settled(bytes.into(), None));
        let number = state.files.len() - 1;
        state.entries.put(path, Entry::File(number));
    }

    /// Durably copies a folder by hard links, and replaces an existing copy. The files then have names in both folders.
    pub fn link_folder(&self, from: &Path, to: &Path) {
        let mut state = self.state();
        state.entries.put(to, Entry::Folder);
        state.entries.clear(to);
        for name in state.entries.inside(from) {
            let Some(number) = state.entries.file(&from.join(&name)) else { continue };
            if let Some(file) = state.files.get_mut(number) {
                *file = FileState::settled(file.current.clone(), file.unreadable);
            }
            state.entries.put(&from.join(&name), Entry::File(number));
            state.entries.put(&to.join(&name), Entry::File(number));
        }
    }
}
