//! `tables serve`: serves a folder or an in-memory store over HTTP to programs in any language.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};

use table_server::{Account, Config, Server};

use crate::commands::{Context, explore, say};
use crate::failure::{Exit, Failure, Result};
use crate::store::Purpose;
use crate::terminal;

/// Options of `serve`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables serve --store data/company\n  tables serve --store data/company --explore\n\nIt listens on this machine alone, with the account and the public key of the emulator. `table-server` has the options of a server for other machines."
)]
pub(super) struct Serve {
    /// The port of tables; 0 lets the system choose
    #[arg(long, default_value_t = 10_002)]
    port: u16,
    /// Also show the tables in a browser, read-only, at the address printed on standard error
    #[arg(long)]
    explore: bool,
}

impl Serve {
    pub(super) async fn run(&self, context: &Context, out: &mut (dyn Write + Send)) -> Result<Exit> {
        self.run_until(context, out, async {
            // If the platform does not support signals, the server runs until the process ends.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        })
        .await
    }

    async fn run_until(
        &self,
        context: &Context,
        out: &mut (dyn Write + Send),
        end: impl Future<Output = ()>,
    ) -> Result<Exit> {
        let store = context.store.open(Purpose::Serve).await?;
        let account = Account::emulator(store.engine("serve")?.clone())?;
        let (name, load) = (account.name().to_owned(), account.partition_load());
        let ephemeral = Config::on_loopback(account).ephemeral();
        let tables = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let server = Server::bind(Config { tables, ..ephemeral }).await?;
        say(out, &server.connection_string(&name).unwrap_or_default())?;
        out.flush().map_err(Failure::file("-"))?;
        terminal::print_line(format_args!(
            "{} is served at {}; Ctrl-C ends it",
            store.shown,
            server.tables()
        ));
        let explorer = if self.explore {
            let explorer =
                explore::bind(explore::source_of(context, &store).with_load(load), false, 0).await?;
            terminal::print_line(format_args!("open {} in a browser", explorer.url()));
            Some(explorer)
        } else {
            None
        };
        let (ended, over) = tokio::sync::oneshot::channel::<()>();
        let exploring = async {
            if let Some(explorer) = explorer {
                explorer.serve_until(async { drop(over.await) }).await;
            }
        };
        let serving = async {
            server.serve_until(end).await;
            drop(ended);
        };
        tokio::join!(serving, exploring);
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Format;
    use crate::store::StoreOptions;

    #[tokio::test]
    async fn a_server_with_an_explorer_stops_both() {
        let options = StoreOptions { store: Some("memory:".to_owned()), config: None };
        let context = Context { store: options, output: Format::default() };
        for explore in [false, true] {
            let mut out = Vec::new();
            Serve { port: 0, explore }.run_until(&context, &mut out, async {}).await.unwrap();
            assert!(String::from_utf8(out).unwrap().contains("AccountName="));
        }
    }
}
