//! What the server refuses to start with.

use std::net::{IpAddr, Ipv4Addr};

use table_core::Engine;
use table_server::{Account, Config, Server};
use table_wire::auth::AccountKey;

#[test]
fn auth_30_the_public_key_stays_on_this_machine() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let bind = |account: Account, anyway: bool| {
        let mut config = Config::at(IpAddr::V4(Ipv4Addr::UNSPECIFIED), vec![account]).ephemeral();
        config.public_key_anywhere = anyway;
        runtime.block_on(Server::bind(config)).map(drop)
    };
    let emulator = || Account::emulator(Engine::in_memory()).unwrap();
    assert_eq!(bind(emulator(), false).unwrap_err().rule(), Some("AUTH-30"));
    assert!(bind(emulator(), true).is_ok());
    let own = Account::new(AccountKey::new("contoso", "a2V5").unwrap(), Engine::in_memory());
    assert!(bind(own, false).is_ok());
}
