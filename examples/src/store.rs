//! Where the cookbook keeps its tables: an embedded engine in a folder or in memory, or an account, with a meter on it.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use table_azure::AzureTables;
use table_core::error::Result;
use table_core::{DynTableStore, Engine};

use crate::metered::Metered;
use crate::prefixed::Prefixed;

/// The store of every recipe, whichever it is.
pub type Store = Metered<DynTableStore>;

/// Opens the store in a folder, which is made if it is not there.
///
/// # Errors
/// Those of [`Engine::open`].
pub fn open(folder: &Path) -> Result<Store> {
    Ok(metered(Engine::open(folder)?))
}

/// A store that is gone with its last handle.
#[must_use]
pub fn in_memory() -> Store {
    metered(Engine::in_memory())
}

/// A part of an account: tables of a prefix that no other run has. What is there already stays as it is.
///
/// # Errors
/// Those of [`AzureTables::from_connection_string`]. Nothing is sent.
pub fn azure(connection_string: &str) -> Result<Store> {
    let run = RandomState::new().hash_one(connection_string.len());
    let account = AzureTables::from_connection_string(connection_string)?;
    Ok(metered(Prefixed::new(account, format!("cookbook{run:016x}"))))
}

fn metered(store: impl table_core::TableStore + 'static) -> Store {
    Metered::new(DynTableStore::new(store))
}
