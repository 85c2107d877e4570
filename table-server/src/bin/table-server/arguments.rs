//! Command-line flags. Each flag can also be set by an environment variable.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{ArgMatches, CommandFactory, Error, FromArgMatches, Parser};

use crate::layers::{self, Alternatives};
use crate::log::Log;
use crate::oauth::OAuthFlags;
use crate::spelled::Spelled;
use crate::tls::TlsFlags;
use crate::trial::Trial;

const EXAMPLES: &str = "\
Examples:
  table-server --memory                                the emulator's account, in memory
  table-server --path data                             the emulator's account, in the folder `data`
  table-server --path data --account contoso=KEY       an account with a name and key, in `data/contoso`
  table-server --config server.toml                    as a file says

A flag takes precedence over its environment variable, and a variable over the file; accounts of the file are added.
Blobs are not served: run `npx -p azurite azurite-blob` for them.";

/// Settings that can each be specified in two alternative ways.
pub(crate) const EITHER: [Alternatives; 3] = [
    [&["memory"], &["path"]],
    [&["tls_certificate", "tls_key"], &["tls_self_signed"]],
    [&["oauth"], &["oauth_issuer", "oauth_keys", "oauth_audience"]],
];

/// Tables and queues over the Azure Table Storage protocol.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Keep everything in memory, where it is lost when the server stops.
    #[arg(
        long,
        env = "TABLE_SERVER_MEMORY",
        value_name = "BOOL",
        value_parser = BoolishValueParser::new(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub(crate) memory: Option<bool>,
    /// Keep everything in a folder: the emulator's account in the folder itself, each named account in a subfolder with its name.
    #[arg(long, env = "TABLE_SERVER_PATH", value_name = "FOLDER")]
    pub(crate) path: Option<PathBuf>,
    /// Read a configuration file in TOML, with the names of these flags.
    #[arg(long, env = "TABLE_SERVER_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Serve an account with this key in base64. Other users on the machine can see command-line flags, so omit `=KEY` to read the key from the
    /// `TABLE_SERVER_KEY` environment variable. May be repeated; in the variable, accounts are separated by commas. If no account is named, the emulator's
    /// account is served.
    #[arg(
        long = "account",
        env = "TABLE_SERVER_ACCOUNTS",
        hide_env_values = true,
        value_delimiter = ',',
        value_name = "NAME=KEY"
    )]
    pub(crate) accounts: Vec<Spelled>,
    /// Listen on this address instead of 127.0.0.1. Accounts with public keys are not served to other machines.
    #[arg(long, env = "TABLE_SERVER_LISTEN", value_name = "ADDRESS")]
    pub(crate) listen: Option<IpAddr>,
    /// Serve tables at this port instead of 10002.
    #[arg(long, env = "TABLE_SERVER_TABLE_PORT", value_name = "PORT")]
    pub(crate) table_port: Option<u16>,
    /// Serve queues at this port instead of 10001.
    #[arg(long, env = "TABLE_SERVER_QUEUE_PORT", value_name = "PORT")]
    pub(crate) queue_port: Option<u16>,
    /// Reject blob requests at this port instead of 10000.
    #[arg(long, env = "TABLE_SERVER_BLOB_PORT", value_name = "PORT")]
    pub(crate) blob_port: Option<u16>,
    /// Serve the emulator's account, whose key is public, to other machines as well.
    #[arg(
        long,
        env = "TABLE_SERVER_PUBLIC_KEY_ANYWHERE",
        value_name = "BOOL",
        value_parser = BoolishValueParser::new(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub(crate) public_key_anywhere: Option<bool>,
    /// Serve `/health`, `/ready`, `/metrics` and `POST /reset` at this address, such as 127.0.0.1:10010.
    #[arg(long, env = "TABLE_SERVER_OBSERVE", value_name = "ADDRESS:PORT")]
    pub(crate) observe: Option<SocketAddr>,
    /// Log to standard error: `quiet` by default.
    #[arg(long, env = "TABLE_SERVER_LOG", value_enum)]
    pub(crate) log: Option<Log>,
    #[command(flatten)]
    pub(crate) tls: TlsFlags,
    #[command(flatten)]
    pub(crate) oauth: OAuthFlags,
    #[command(flatten)]
    pub(crate) trial: Trial,
}

impl Arguments {
    /// Reads the flags. A missing flag is read from its environment variable, unless it is [overridden](layers::overridden).
    ///
    /// # Errors
    /// Any error from the parser, or `ArgumentConflict` if two given flags exclude each other.
    pub(crate) fn of(matches: &ArgMatches) -> Result<Self, Error> {
        let overridden = layers::overridden(&mut Self::command(), matches, &EITHER)?;
        let mut arguments = Self::from_arg_matches(matches)?;
        let counts = |flag| !overridden.contains(&flag);
        arguments.memory = arguments.memory.filter(|_| counts("memory"));
        arguments.path = arguments.path.filter(|_| counts("path"));
        arguments.tls.retain(counts);
        arguments.oauth.retain(counts);
        Ok(arguments)
    }
}
