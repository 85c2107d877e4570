//! `table-server` through `table-azure`: the behaviour suite, the suite of queues, and what is of the server alone.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test panics where something is not as it should be"
)]

mod behaviour;
mod bounds;
mod hostile;
mod python;
mod queues;
mod signatures;
mod throttle;

use std::sync::LazyLock;
use std::thread;

use table_core::Engine;
use table_server::{Account, Config, Server};
use table_wire::auth::AccountKey;

const ACCOUNT: &str = "contoso";
const KEY: &str = "a2V5";

/// The connection string of this binary's server, which ends with it.
static SERVER: LazyLock<String> = LazyLock::new(|| {
    let (sent, started) = std::sync::mpsc::channel();
    thread::spawn(move || {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(
            async {
                let account = Account::new(AccountKey::new(ACCOUNT, KEY).unwrap(), Engine::in_memory());
                let server = Server::bind(Config::on_loopback(account).ephemeral()).await.unwrap();
                sent.send(server.connection_string(ACCOUNT).unwrap()).unwrap();
                server.serve_until(std::future::pending()).await;
            },
        );
    });
    started.recv().expect("the server starts")
});
