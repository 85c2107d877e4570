//! `tables explore`: shows the tables of a store in a browser.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};

use table_explorer::{Explorer, Server, Source, demo};

use crate::commands::{Context, ORDER_HELP, count_of, say};
use crate::failure::{Exit, Failure, Result};
use crate::store::{Location, Profiles, Purpose, Store};
use crate::terminal;

/// The name of the file with saved queries, in the folder of the profiles file.
const NOTEBOOK: &str = "tables-queries.json";
/// The name of the file with table sizes over time, in the folder of the profiles file.
const GROWTH: &str = "tables-growth.json";

/// Options of `explore`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables explore --demo\n  tables explore --store data/company --write\n\nOpen the printed address in a browser. It is reachable from this machine alone, and its token is valid once."
)]
pub(super) struct Explore {
    /// Show sample tables in memory instead of a store
    #[arg(long)]
    demo: bool,
    /// Allow changes: insert, edit and delete entities, requeue poison work
    #[arg(long)]
    write: bool,
    /// The port of the page; 0 lets the system choose
    #[arg(long, default_value_t = 0)]
    port: u16,
}

impl Explore {
    pub(super) async fn run(&self, context: &Context, out: &mut (dyn Write + Send)) -> Result<Exit> {
        self.run_until(context, out, async {
            // If the platform does not support signals, the page is served until the process ends.
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
        let server = bind(self.source(context).await?, self.write, self.port).await?;
        say(out, &server.url())?;
        out.flush().map_err(Failure::file("-"))?;
        terminal::print_line("open the address in a browser; Ctrl-C ends the explorer");
        let explorer = server.explorer().clone();
        server.serve_until(end).await;
        let omitted = explorer.omitted();
        if omitted > 0 {
            let rows = count_of(omitted, "row");
            terminal::print_line(format_args!(
                "warning: pages lacked {rows} in total, because the store cannot represent them as entities"
            ));
        }
        Ok(Exit::Done.after_omitting(omitted))
    }

    async fn source(&self, context: &Context) -> Result<Source> {
        if self.demo {
            return Ok(demo::source().await?);
        }
        let purpose = if self.write { Purpose::Write } else { Purpose::Read };
        let store = context.store.open(purpose).await?;
        store.require_key_order(ORDER_HELP)?;
        Ok(source_of(context, &store))
    }
}

/// Returns an open store as a source for the explorer, with the user's saved queries and recorded table sizes.
pub(super) fn source_of(context: &Context, store: &Store) -> Source {
    let source =
        Source::new(store.tables.clone(), store.shown.as_str()).with_identity(store.identity.as_str());
    // An in-memory store does not outlive the process, so its saved queries and table sizes would be useless later.
    let is_lasting = store.identity != Location::Memory.identity();
    let source = match Profiles::file(context.store.config.as_deref()).filter(|_| is_lasting) {
        Some(profiles) => source
            .with_notebook(profiles.with_file_name(NOTEBOOK))
            .with_growth(profiles.with_file_name(GROWTH)),
        None => source,
    };
    match &store.engine {
        Some(engine) => source.with_engine(engine.clone()),
        None => source,
    }
}

/// Binds the explorer to a port that only this machine can reach.
pub(super) async fn bind(source: Source, is_writable: bool, port: u16) -> Result<Server> {
    let explorer = if is_writable { Explorer::writable(source) } else { Explorer::new(source) };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    Server::bind(address, explorer).await.map_err(Failure::file(address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Format;
    use crate::store::StoreOptions;

    #[tokio::test]
    async fn the_address_is_printed_before_requests_are_answered() {
        let context = Context { store: StoreOptions::default(), output: Format::default() };
        let explore = Explore { demo: true, write: false, port: 0 };
        let mut out = Vec::new();
        explore.run_until(&context, &mut out, async {}).await.unwrap();
        let printed = String::from_utf8(out).unwrap();
        assert!(printed.starts_with("http://127.0.0.1:") && printed.contains("/?token="), "{printed}");
    }

    #[tokio::test]
    async fn a_store_must_be_named_or_the_sample_requested() {
        let context = Context { store: StoreOptions::default(), output: Format::default() };
        let explore = Explore { demo: false, write: false, port: 0 };
        let refused = explore.run_until(&context, &mut Vec::new(), async {}).await.unwrap_err();
        assert!(refused.to_string().contains("no store is named"));
    }

    #[tokio::test]
    async fn saved_queries_belong_to_a_folder_by_its_canonical_path_and_to_no_store_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        drop(table_core::Engine::open(&data).unwrap());
        let source = async |store: String| {
            let options =
                StoreOptions { store: Some(store), config: Some(folder.path().join("tables.toml")) };
            let context = Context { store: options, output: Format::default() };
            let store = context.store.open(Purpose::Read).await.unwrap();
            format!("{:?}", source_of(&context, &store))
        };
        let identity = format!("identity: Some({:?})", data.canonicalize().unwrap().display().to_string());
        for name in ["data", "./data", "data/../data"] {
            let found = source(folder.path().join(name).display().to_string()).await;
            assert!(
                found.contains(&identity) && found.contains(NOTEBOOK) && found.contains(GROWTH),
                "{found}"
            );
        }
        let found = source("memory:".to_owned()).await;
        assert!(!found.contains(NOTEBOOK) && !found.contains(GROWTH), "{found}");
    }
}
