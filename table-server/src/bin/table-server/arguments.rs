//! The flags of the program.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::Parser;

use crate::log::Log;
use crate::spelled::Spelled;
use crate::tls::TlsFlags;
use crate::trial::Trial;

/// Tables and queues with the protocol of Azure Table Storage.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Arguments {
    /// Keep everything in memory.
    #[arg(long, conflicts_with = "path", required_unless_present_any = ["path", "config"])]
    pub(crate) memory: bool,
    /// The folder: the emulator's account is in it, an account with a name of its own in a folder of that name below it.
    #[arg(long)]
    pub(crate) path: Option<PathBuf>,
    /// A configuration file in TOML; flags go before what it says.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// An account and its key in base64, which other users of the machine see in its list of processes; without `=KEY`, the key is that of the
    /// variable `TABLE_SERVER_KEY`. May be repeated. Without any account, the emulator's is served.
    #[arg(long = "account", value_name = "NAME=KEY")]
    pub(crate) accounts: Vec<Spelled>,
    /// The address to listen on, 127.0.0.1 by default; any but loopback needs accounts with keys of their own.
    #[arg(long)]
    pub(crate) listen: Option<IpAddr>,
    /// The port of tables, 10002 by default.
    #[arg(long)]
    pub(crate) table_port: Option<u16>,
    /// The port of queues, 10001 by default.
    #[arg(long)]
    pub(crate) queue_port: Option<u16>,
    /// The port at which blobs are refused, 10000 by default.
    #[arg(long)]
    pub(crate) blob_port: Option<u16>,
    /// Serve the emulator's account, whose key everyone knows, to other machines too.
    #[arg(long)]
    pub(crate) public_key_anywhere: bool,
    /// Answer `/health`, `/ready` and `/metrics` at this address, such as 127.0.0.1:10010.
    #[arg(long)]
    pub(crate) observe: Option<SocketAddr>,
    /// What is logged, on standard error.
    #[arg(long, value_enum, default_value_t = Log::Quiet)]
    pub(crate) log: Log,
    #[command(flatten)]
    pub(crate) tls: TlsFlags,
    #[command(flatten)]
    pub(crate) trial: Trial,
}
