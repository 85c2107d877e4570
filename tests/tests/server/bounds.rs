//! Tests of configurations and requests that the server rejects.

use std::net::{IpAddr, Ipv4Addr};

use table_core::Engine;
use table_server::{Account, Config, Server};
use table_wire::auth::AccountKey;
use tests::served::{account, asked};

#[test]
fn auth_30_the_public_key_stays_on_this_machine() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let bind = |account: Account, anyway: bool| {
        let mut config = Config::listening_on(IpAddr::V4(Ipv4Addr::UNSPECIFIED), vec![account]).ephemeral();
        config.public_key_anywhere = anyway;
        runtime.block_on(Server::bind(config)).map(drop)
    };
    let emulator = || Account::emulator(Engine::in_memory()).unwrap();
    assert_eq!(bind(emulator(), false).unwrap_err().rule(), Some("AUTH-30"));
    assert!(bind(emulator(), true).is_ok());
    let own = Account::new(AccountKey::new("contoso", "a2V5").unwrap(), Engine::in_memory());
    assert!(bind(own, false).is_ok());
}

#[test]
fn blob_requests_are_refused_with_a_clear_response() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let server = Server::bind(Config::on_loopback(account()).ephemeral()).await.unwrap();
        let blobs = server.blobs();
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let asking = async {
            let answer = asked(blobs, "/contoso?comp=list").await;
            drop(end);
            answer
        };
        let (answer, ()) = tokio::join!(asking, server.serve_until(async { drop(ended.await) }));
        assert!(answer.starts_with("HTTP/1.1 501") && answer.contains("azurite-blob"), "{answer}");
    });
}
