//! Derives the accounts and the server configuration from the flags and the configuration file.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use table_core::{Engine, Error, Result};
use table_server::{Account, Config};
use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT};

use crate::arguments::Arguments;
use crate::fault::ProgramFault;
use crate::file::File;
use crate::log::Log;
use crate::spelled::Spelled;

/// The location of an account's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Memory,
    Folder(PathBuf),
}

/// An account to serve, before its engine is opened.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) key: AccountKey,
    pub(crate) place: Place,
}

impl Place {
    /// Returns the data location specified by one layer: the flags, the file, or an account in the file.
    ///
    /// # Errors
    /// The error from `both` if the layer specifies both a folder and memory.
    fn of(
        path: Option<&PathBuf>,
        memory: Option<bool>,
        both: impl FnOnce() -> ProgramFault,
    ) -> Result<Option<Self>> {
        match (path, memory) {
            (Some(_), Some(true)) => Err(Error::of(both())),
            (path, None | Some(false)) => Ok(path.cloned().map(Self::Folder)),
            (None, Some(true)) => Ok(Some(Self::Memory)),
        }
    }
}

impl Planned {
    /// Opens the engine.
    ///
    /// # Errors
    /// `FolderLocked` if another server has the folder open; any other error from opening an engine, such as `FolderNotOurs`, `FormatTooNew`, `Corrupted` or
    /// `Io`.
    pub(crate) fn open(self, arguments: &Arguments, file: &File) -> Result<Account> {
        let options = Engine::builder().faults(arguments.trial.faults(file));
        let in_memory = self.place == Place::Memory;
        let engine = match self.place {
            Place::Memory => options.in_memory(),
            Place::Folder(folder) => options.open(folder)?,
        };
        let account = arguments.trial.throttled(Account::new(self.key, engine), file);
        Ok(if in_memory { account.resettable() } else { account })
    }
}

/// Prints a line such as `contoso in data/contoso`.
impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Memory => writeln!(f, "{} in memory", self.key.account()),
            Place::Folder(folder) => writeln!(f, "{} in {}", self.key.account(), folder.display()),
        }
    }
}

/// Returns the accounts named by the flags and the file, or the emulator's account if neither names any. `fallback` is the key for accounts whose flag contains
/// no key.
///
/// # Errors
/// `InvalidInput` if a name is invalid or duplicate, or an account has no key, no location or two locations.
pub(crate) fn accounts(arguments: &Arguments, file: &File, fallback: Option<&str>) -> Result<Vec<Planned>> {
    let of_flags = Place::of(arguments.path.as_ref(), arguments.memory, || ProgramFault::TwoPlaces)?;
    let of_file = Place::of(file.path.as_ref(), file.memory, || ProgramFault::TwoPlaces)?;
    // A layer with `memory = false` and no folder overrides `memory = true` in the next layer.
    let or = |own: Option<Place>, memory: Option<bool>, next: Option<Place>| {
        own.or_else(|| next.filter(|place| *place != Place::Memory || memory != Some(false)))
    };
    let shared = or(of_flags, arguments.memory, of_file);
    let below = |name: &str| match shared.clone()? {
        Place::Folder(folder) => Some(Place::Folder(folder.join(name))),
        Place::Memory => Some(Place::Memory),
    };
    let found = |name: &str, place: Option<Place>| {
        place.ok_or_else(|| Error::of(ProgramFault::NoPlace(name.to_owned())))
    };
    let mut planned = Vec::new();
    for spelled in &arguments.accounts {
        planned.push(Planned {
            key: spelled.key(fallback)?,
            place: found(&spelled.name, below(&spelled.name))?,
        });
    }
    for account in &file.accounts {
        let name = &account.name;
        let both = || ProgramFault::TwoPlacesOfAccount(name.clone());
        let own = Place::of(account.path.as_ref(), account.memory, both)?;
        let place = found(name, or(own, account.memory, below(name)))?;
        planned.push(Planned { key: account.spelled().key(None)?, place });
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = planned.iter().find(|one| !names.insert(one.key.account())) {
        return Err(Error::of(ProgramFault::Twice(twice.key.account().to_owned())));
    }
    if planned.is_empty() {
        let emulator = Spelled { name: EMULATOR_ACCOUNT.to_owned(), key: None };
        let place = shared.ok_or_else(|| Error::of(ProgramFault::NoStart))?;
        planned.push(Planned { key: emulator.key(None)?, place });
    }
    Ok(planned)
}

/// Returns the server configuration for the accounts.
pub(crate) fn config(arguments: &Arguments, file: &File, accounts: Vec<Account>) -> Config {
    let listen = arguments.listen.or(file.listen).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let mut config = Config::listening_on(listen, accounts);
    let set = |address: &mut SocketAddr, flag: Option<u16>, file: Option<u16>| {
        if let Some(port) = flag.or(file) {
            address.set_port(port);
        }
    };
    set(&mut config.tables, arguments.table_port, file.table_port);
    set(&mut config.queues, arguments.queue_port, file.queue_port);
    set(&mut config.blobs, arguments.blob_port, file.blob_port);
    config.observe = arguments.observe.or(file.observe);
    config.latency = arguments.trial.latency(file);
    config.public_key_anywhere =
        arguments.public_key_anywhere.or(file.public_key_anywhere).unwrap_or_default();
    config
}

/// Returns the log's level and format.
pub(crate) fn log(arguments: &Arguments, file: &File) -> Log {
    arguments.log.or(file.log).unwrap_or_default()
}

/// Reads the configuration file named by the flags, if any.
///
/// # Errors
/// Any error from [`File::read`]: `Io` or `InvalidInput`.
pub(crate) fn file(path: Option<&Path>) -> Result<File> {
    path.map_or_else(|| Ok(File::default()), File::read)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::arguments::EITHER;

    fn places(flags: &[&str], toml: &str) -> Result<Vec<(String, Place)>> {
        let program = ["table-server"];
        let arguments = Arguments::try_parse_from(program.iter().chain(flags)).unwrap();
        let file = toml::from_str(toml).unwrap();
        let planned = accounts(&arguments, &file, Some("a2V5"))?;
        Ok(planned.into_iter().map(|one| (one.key.account().to_owned(), one.place)).collect())
    }

    fn folder(name: &str, folder: &str) -> (String, Place) {
        (name.to_owned(), Place::Folder(folder.into()))
    }

    fn memory(name: &str) -> (String, Place) {
        (name.to_owned(), Place::Memory)
    }

    #[test]
    fn every_named_account_has_its_own_folder() {
        assert_eq!(places(&["--path", "data"], "").unwrap(), [folder("devstoreaccount1", "data")]);
        let flags = ["--path", "data", "--account", "contoso", "--account", "fabrikam=a2V5"];
        assert_eq!(
            places(&flags, "").unwrap(),
            [folder("contoso", "data/contoso"), folder("fabrikam", "data/fabrikam")]
        );
        assert_eq!(places(&["--memory", "--account", "contoso"], "").unwrap(), [memory("contoso")]);
    }

    #[test]
    fn flags_take_precedence_and_accounts_are_added() {
        let toml = "path = 'data'\n[[account]]\nname = 'fabrikam'\nkey = 'a2V5'\n\
                    [[account]]\nname = 'northwind'\nkey = 'a2V5'\npath = 'far'\n[[account]]\nname = 'devstoreaccount1'\nmemory = true";
        let file = ["--config", "x"];
        let expected =
            [folder("fabrikam", "data/fabrikam"), folder("northwind", "far"), memory("devstoreaccount1")];
        assert_eq!(places(&file, toml).unwrap(), expected);
        let flags = ["--config", "x", "--memory", "--account", "contoso"];
        let expected =
            [memory("contoso"), memory("fabrikam"), folder("northwind", "far"), memory("devstoreaccount1")];
        assert_eq!(places(&flags, toml).unwrap(), expected);
    }

    #[test]
    fn accounts_that_cannot_be_served_are_refused() {
        let account = |more: &str| format!("[[account]]\nname = 'contoso'\n{more}");
        for (flags, toml, why) in [
            (vec![], String::new(), "--path FOLDER"),
            (vec!["--config", "x"], String::new(), "--path FOLDER"),
            (vec!["--config", "x", "--account", "contoso"], String::new(), "no place"),
            (vec!["--memory"], account(""), "no key"),
            (vec!["--memory"], account("key = 'a2V5'\nmemory = false"), "no place"),
            (
                vec!["--config", "x"],
                "path = 'x'\nmemory = true".to_owned(),
                "the configuration file has `path` and `memory = true`; remove one",
            ),
            (
                vec!["--config", "x"],
                account("key = 'a2V5'\npath = 'x'\nmemory = true"),
                "account `contoso` of the configuration file has `path` and `memory = true`; remove one",
            ),
            (vec!["--memory", "--account", "contoso"], account("key = 'a2V5'"), "is given twice"),
            (vec!["--memory", "--account", "../up"], String::new(), "3 to 24 lower-case"),
        ] {
            let error = places(&flags, &toml).unwrap_err().to_string();
            assert!(error.contains(why), "{why}: {error}");
        }
    }

    /// Tests the layers that can specify a setting in two ways: the flags, the file and, for the data location, an account in the file. The tests in
    /// `tests/process/accounts.rs` cover environment variables.
    #[test]
    fn a_setting_given_in_both_ways_is_refused_in_every_layer() {
        let value = |flag: &str| if flag == "memory" { "true" } else { "'basic'" };
        for [one, other] in EITHER {
            let entries: Vec<_> = one
                .iter()
                .chain(other)
                .map(|flag| format!("{} = {}\n", flag.replace('_', "-"), value(flag)))
                .collect();
            let entries = entries.concat();
            let refused = |flags: &[&str], toml: &str| {
                let arguments = Arguments::try_parse_from(["table-server"].iter().chain(flags)).unwrap();
                let file: File = toml::from_str(toml).unwrap();
                let mut config = Config::on_loopback(Account::emulator(Engine::in_memory()).unwrap());
                let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
                accounts(&arguments, &file, Some("a2V5"))
                    .map(drop)
                    .and_then(|()| arguments.tls.apply(&file, loopback, &mut config).map(drop))
                    .and_then(|()| arguments.oauth.bearer(&file).map(drop))
                    .unwrap_err()
            };
            let place = if one.contains(&"memory") { "" } else { "memory = true\n" };
            let expected = match one.first() {
                Some(&"memory") => "the configuration file has `path` and `memory = true`",
                Some(&"oauth") => "bearer tokens need either",
                _ => "HTTPS needs a certificate and its key, or",
            };
            let error = refused(&[], &format!("{place}{entries}")).to_string();
            assert!(error.contains(expected), "{entries}: {error}");
            if place.is_empty() {
                let account = format!("[[account]]\nname = 'contoso'\nkey = 'a2V5'\n{entries}");
                let error = refused(&["--memory"], &account).to_string();
                assert!(error.contains("account `contoso` of the configuration file has"), "{error}");
            }
            let flags: Vec<String> =
                one.iter().chain(other).map(|flag| format!("--{}", flag.replace('_', "-"))).collect();
            let line = flags.iter().flat_map(|flag| {
                if flag == "--memory" { vec![flag.as_str()] } else { vec![flag.as_str(), "basic"] }
            });
            let matches =
                Arguments::command().try_get_matches_from(["table-server"].into_iter().chain(line)).unwrap();
            assert!(Arguments::of(&matches).unwrap_err().to_string().contains("cannot be used with"));
        }
    }
}
