//! Opens the stores used by commands, given by a location or a profile.

mod cosmos;
mod location;
mod profile;

use std::path::{Path, PathBuf};

use table_azure::{AzureTables, Credential};
use table_core::embedded::EngineOptions;
use table_core::{DynTableStore, Engine, TableStore};

use crate::failure::{Failure, Result};
pub use cosmos::CosmosDatabase;
pub use location::Location;
pub(crate) use location::was_identity;
pub use profile::Profiles;

/// The purpose of opening a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The command only reads. It can open a folder while another process writes to it.
    Read,
    /// The command writes to an existing store.
    Write,
    /// The command writes, and may create the folder.
    Create,
    /// The command serves the store to other programs, and may create the folder. The engine's cache has the default size.
    Serve,
}

/// The cache size of an engine opened by a command, in bytes. It is small because most commands read each block only once.
const CACHE: usize = 32 << 20;

/// An open store, with its engine if it has one.
#[derive(Clone, Debug)]
pub struct Store {
    /// The type-erased store.
    pub tables: DynTableStore,
    /// The engine, if the store is a folder or in memory. Some commands require an engine.
    pub engine: Option<Engine>,
    /// The location as shown in messages, without secrets.
    pub shown: String,
    /// A string that identifies the location in files written by commands. It is independent of the current directory.
    pub identity: String,
}

impl Store {
    /// Opens the store at a location.
    ///
    /// # Errors
    /// - `Refused` if the folder does not exist, unless the purpose is [`Purpose::Create`] or [`Purpose::Serve`].
    /// - `Store`, with the cause, if the engine or the account fails.
    /// - `Usage` if the location is a Cosmos DB database and the program was built without support for Cosmos DB.
    pub async fn open(location: &Location, purpose: Purpose) -> Result<Self> {
        let shown = location.to_string();
        let (tables, engine) = match location {
            Location::Memory => of_engine(Engine::in_memory()),
            Location::Folder(path) => of_engine(open_folder(path, purpose)?),
            Location::ConnectionString(text) => {
                (DynTableStore::new(AzureTables::from_connection_string(text)?), None)
            }
            Location::Signed { endpoint, signature } => {
                let credential = Credential::shared_access_signature(signature);
                (DynTableStore::new(AzureTables::new(endpoint, credential)?), None)
            }
            Location::Cosmos(database) => (database.open().await?, None),
        };
        Ok(Self { tables, engine, shown, identity: location.identity() })
    }

    /// Returns an error if the store does not return rows in key order. `help` describes an alternative for the user.
    ///
    /// # Errors
    /// `Refused` if the store does not return rows in key order.
    pub fn require_key_order(&self, help: &str) -> Result<()> {
        if self.tables.capabilities().ordered {
            return Ok(());
        }
        Err(Failure::Refused(format!("{} does not return rows in key order; {help}", self.shown)))
    }

    /// Returns the store's engine. `command` names the command that requires it, for the error message.
    ///
    /// # Errors
    /// `Refused` if the store is an account.
    pub fn engine(&self, command: &str) -> Result<&Engine> {
        self.engine.as_ref().ok_or_else(|| {
            Failure::Refused(format!(
                "`{command}` works on a folder of the embedded engine; {} is an account",
                self.shown
            ))
        })
    }
}

fn of_engine(engine: Engine) -> (DynTableStore, Option<Engine>) {
    (DynTableStore::new(engine.clone()), Some(engine))
}

fn open_folder(path: &Path, purpose: Purpose) -> Result<Engine> {
    if path.is_file() {
        let shown = path.display();
        return Err(Failure::Refused(format!(
            "`{shown}` is a file; name the folder that contains the store"
        )));
    }
    if !matches!(purpose, Purpose::Create | Purpose::Serve) && !path.is_dir() {
        let shown = path.display();
        return Err(Failure::Refused(format!(
            "there is no folder `{shown}`; check `--store`, or create it with `import` or `copy`"
        )));
    }
    let options = match purpose {
        Purpose::Serve => EngineOptions::new(),
        Purpose::Read | Purpose::Write | Purpose::Create => EngineOptions::new().cache_bytes(CACHE),
    };
    Ok(match purpose {
        Purpose::Read => options.open_read_only(path)?,
        Purpose::Write | Purpose::Create | Purpose::Serve => options.open(path)?,
    })
}

/// The options that specify the store of a command.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct StoreOptions {
    /// The store: a folder, `memory:`, a connection string, an account URL with a shared access signature, `UseDevelopmentStorage=true`,
    /// a connection string of Cosmos DB for NoSQL with `Database=NAME`, or `@NAME` for a profile of the configuration file
    #[arg(long, short, global = true, env = "TABLES_STORE", hide_env_values = true, value_name = "STORE")]
    pub store: Option<String>,
    /// The configuration file with profiles [default: tables.toml in the configuration folder of the user]
    #[arg(long, global = true, env = "TABLES_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl StoreOptions {
    /// Opens the store specified by the options.
    ///
    /// # Errors
    /// `Usage` if no store is specified. Any error from [`Store::open`].
    pub async fn open(&self, purpose: Purpose) -> Result<Store> {
        Store::open(&self.location()?, purpose).await
    }

    /// Returns the location specified by the options.
    ///
    /// # Errors
    /// `Usage` if no store is specified. Any error from [`locate`](Self::locate).
    pub fn location(&self) -> Result<Location> {
        let text = self.store.as_deref().ok_or_else(|| {
            let help = "no store is named; pass `--store FOLDER`, `--store CONNECTION_STRING`, or set `TABLES_STORE`";
            Failure::Usage(help.to_owned())
        })?;
        self.locate(text)
    }

    /// Returns the location specified by a string, which may refer to a profile.
    ///
    /// # Errors
    /// `Usage` if the string does not specify a location. Any error from [`Profiles::read`] or [`Profiles::location`].
    pub fn locate(&self, text: &str) -> Result<Location> {
        match text.strip_prefix('@') {
            Some(name) => Profiles::read(self.config.as_deref())?.location(name),
            None => text.parse(),
        }
    }
}
