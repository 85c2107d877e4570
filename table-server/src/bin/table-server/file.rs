//! The configuration file, in TOML.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use serde::Deserialize;
use table_core::{Error, Result};

use crate::fault::ProgramFault;
use crate::log::Log;
use crate::oauth::Level;
use crate::spelled::Spelled;
use crate::trial::{FaultList, Targets};

/// The contents of the configuration file. Its keys have the same names as the flags.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct File {
    pub(crate) memory: Option<bool>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) listen: Option<IpAddr>,
    pub(crate) table_port: Option<u16>,
    pub(crate) queue_port: Option<u16>,
    pub(crate) blob_port: Option<u16>,
    pub(crate) public_key_anywhere: Option<bool>,
    pub(crate) observe: Option<SocketAddr>,
    pub(crate) log: Option<Log>,
    pub(crate) tls_certificate: Option<PathBuf>,
    pub(crate) tls_key: Option<PathBuf>,
    pub(crate) tls_self_signed: Option<PathBuf>,
    pub(crate) oauth: Option<Level>,
    pub(crate) oauth_issuer: Option<String>,
    pub(crate) oauth_keys: Option<PathBuf>,
    pub(crate) oauth_audience: Option<String>,
    pub(crate) throttle: Option<Targets>,
    pub(crate) latency: Option<u64>,
    pub(crate) faults: Option<FaultList>,
    #[serde(rename = "account")]
    pub(crate) accounts: Vec<FileAccount>,
}

/// An `[[account]]` section of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileAccount {
    pub(crate) name: String,
    pub(crate) key: Option<Secret>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) memory: Option<bool>,
}

/// A secret string, which is never printed.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl FileAccount {
    pub(crate) fn spelled(&self) -> Spelled {
        Spelled { name: self.name.clone(), key: self.key.clone().map(|key| key.0) }
    }
}

impl File {
    /// Reads the file. Paths in the file are relative to its folder.
    ///
    /// # Errors
    /// `Io` if the file cannot be read. `InvalidInput`, with the line number, if it is not TOML or contains an unknown key.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path)
            .map_err(|source| Error::of(ProgramFault::File { path: path.to_owned(), source }))?;
        let mut file = Self::parse(path, &text)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let own = [
            &mut file.path,
            &mut file.tls_certificate,
            &mut file.tls_key,
            &mut file.tls_self_signed,
            &mut file.oauth_keys,
        ];
        for path in
            own.into_iter().flatten().chain(file.accounts.iter_mut().filter_map(|one| one.path.as_mut()))
        {
            *path = folder.join(&path);
        }
        Ok(file)
    }

    fn parse(path: &Path, text: &str) -> Result<Self> {
        toml::from_str(text).map_err(|error| {
            // The full error text may contain the faulty line and thus a key, so only the message is used.
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let what = error.message().to_owned();
            Error::of(ProgramFault::Syntax { path: path.to_owned(), line, what })
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;

    fn parse(text: &str) -> Result<File> {
        File::parse(Path::new("server.toml"), text)
    }

    /// Tests that the documented sample file can be read, and that its paths are relative to the file.
    #[test]
    fn the_sample_is_read_and_its_paths_are_relative_to_it() {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample.toml");
        let file = File::read(&sample).unwrap();
        assert_eq!(file.path, Some(sample.with_file_name("data")));
        let names: Vec<_> = file.accounts.iter().map(|account| account.name.as_str()).collect();
        assert_eq!(names, ["contoso", "fabrikam", "devstoreaccount1"]);
        assert_eq!(file.accounts[1].path, Some(sample.with_file_name("elsewhere")));
        assert!(file.accounts[2].memory == Some(true) && file.accounts[2].key.is_none());
        assert_eq!((file.table_port, file.observe.map(|at| at.port())), (Some(10_002), Some(10_010)));
    }

    /// Tests the statement in `docs/server.md` that every flag except `--config` has an entry in the file.
    #[test]
    fn every_flag_except_config_has_an_entry() {
        let error = toml::from_str::<File>("unknown = 1\n").unwrap_err().to_string();
        let command = Arguments::command();
        let flags: Vec<_> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
        assert!(flags.len() > 15);
        for flag in flags.iter().filter(|flag| !["config", "help", "version"].contains(flag)) {
            assert!(error.contains(&format!("`{flag}`")), "{flag} is not an entry: {error}");
        }
    }

    #[test]
    fn a_fault_names_its_line_and_does_not_repeat_it() {
        for (text, expected) in [
            ("listen = 5\n", "line 1 of"),
            ("\ntables-port = 1\n", "line 2 of"),
            ("[[account]]\nname = \"contoso\"\nkey = \"c2VjcmV0\n", "line 3 of"),
            ("[[account]]\nname = \"contoso\"\nkey = \"c2VjcmV0\"\nkey = \"c2VjcmV0\"\n", "line 4 of"),
            ("[[account]]\nname = \"contoso\"\npassword = \"c2VjcmV0\"\n", "line 3 of"),
        ] {
            let error = format!("{:?}", parse(text).unwrap_err());
            assert!(error.contains(expected) && !error.contains("c2VjcmV0"), "{text}: {error}");
        }
        let file = parse("[[account]]\nname = \"contoso\"\nkey = \"c2VjcmV0\"\n").unwrap();
        assert!(!format!("{file:?}").contains("c2VjcmV0"));
    }
}
