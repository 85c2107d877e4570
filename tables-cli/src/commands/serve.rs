//! `tables serve`: a folder, or memory, for programs in any language.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};

use table_server::{Account, Config, Server};

use crate::commands::{Context, say};
use crate::failure::{Exit, Failure, Result};
use crate::store::Purpose;

/// Options of `serve`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Example: tables serve --store data/company\n\nIt listens on this machine alone, with the account and the public key of the emulator. `table-server` has the options of a server for other machines."
)]
pub(super) struct Serve {
    /// The port of tables; 0 lets the system choose
    #[arg(long, default_value_t = 10_002)]
    port: u16,
}

impl Serve {
    pub(super) async fn run(&self, context: &Context, out: &mut (dyn Write + Send)) -> Result<Exit> {
        let store = context.store.open(Purpose::Create)?;
        let account = Account::emulator(store.engine("serve")?.clone())?;
        let name = account.name().to_owned();
        let ephemeral = Config::on_loopback(account).ephemeral();
        let tables = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let server = Server::bind(Config { tables, ..ephemeral }).await?;
        say(out, &server.connection_string(&name).unwrap_or_default())?;
        out.flush().map_err(Failure::file("-"))?;
        eprintln!("{} is served at {}; Ctrl-C ends it", store.shown, server.tables());
        server
            .serve_until(async {
                // Where no signal can be waited for, the server runs until the process ends.
                if tokio::signal::ctrl_c().await.is_err() {
                    std::future::pending::<()>().await;
                }
            })
            .await;
        Ok(Exit::Done)
    }
}
