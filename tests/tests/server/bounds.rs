//! Tests configurations and requests that the server rejects.

use std::net::{IpAddr, Ipv4Addr};

use table_core::Engine;
use table_server::{Account, Bearer, Config, Server};
use table_wire::auth::AccountKey;
use tests::served::{account, asked};

/// Tests combinations of the public key, unsigned tokens, and the option that allows the public key on any address.
///
/// Anyone can create these credentials. A server that accepts them must therefore refuse a non-loopback address. The option makes an exception only for the
/// public key.
#[test]
fn auth_12_and_30_credentials_that_anyone_can_create_stay_on_this_machine() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let emulator = || Account::emulator(Engine::in_memory()).unwrap();
    let own = || Account::new(AccountKey::new("contoso", "a2V5").unwrap(), Engine::in_memory());
    for (has_public_key, is_unsigned, anyway, rule) in [
        (false, false, false, None),
        (false, false, true, None),
        (true, false, false, Some("AUTH-30")),
        (true, false, true, None),
        (false, true, false, Some("AUTH-12")),
        (false, true, true, Some("AUTH-12")),
        (true, true, true, Some("AUTH-12")),
    ] {
        let bind = |address| {
            let accounts = if has_public_key { vec![own(), emulator()] } else { vec![own()] };
            let mut config = Config::listening_on(address, accounts).ephemeral();
            config.public_key_anywhere = anyway;
            config.bearer = is_unsigned.then(Bearer::insecure_without_signature_check);
            runtime.block_on(Server::bind(config)).map(drop).map_err(|error| error.rule())
        };
        let case = format!("public key {has_public_key}, unsigned {is_unsigned}, anywhere {anyway}");
        assert_eq!(bind(IpAddr::V4(Ipv4Addr::UNSPECIFIED)).err(), rule.map(Some), "{case}");
        assert_eq!(bind(IpAddr::V4(Ipv4Addr::LOCALHOST)), Ok(()), "{case}");
    }
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
