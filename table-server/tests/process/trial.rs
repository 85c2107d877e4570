//! Tests of a server with injected faults.

use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY};

use crate::child::{Running, on};
use crate::wire::{Asked, status};

/// Tests that injected faults affect only clients. The server itself can start with a folder containing settings, and can read and write them.
#[test]
fn a_server_that_refuses_every_call_starts_and_keeps_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    let key = AccountKey::new(EMULATOR_ACCOUNT, EMULATOR_KEY).unwrap();
    let properties = "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>https://contoso.com</AllowedOrigins>\
                      <AllowedMethods>GET</AllowedMethods><MaxAgeInSeconds>60</MaxAgeInSeconds><ExposedHeaders/><AllowedHeaders/></CorsRule></Cors></StorageServiceProperties>";
    let target = "/devstoreaccount1/?restype=service&comp=properties";
    for _ in 0..2 {
        let mut command = on(folder.path());
        command.args(["--faults", "busy=1"]);
        let server = Running::start(command);
        let set = Asked { body: properties, ..Asked::queues("PUT", target) }.of(server.queues, &key);
        assert_eq!(status(&set), "202", "{set}");
        let busy = Asked::tables("GET", "/devstoreaccount1/Tables").of(server.tables, &key);
        assert_eq!(status(&busy), "503", "{busy}");
        assert!(busy.contains("ServerBusy") && busy.to_lowercase().contains("retry-after: 1"), "{busy}");
        assert!(server.end("-TERM").status.success());
    }
    let server = Running::start(on(folder.path()));
    let kept = Asked::queues("GET", target).of(server.queues, &key);
    assert!(kept.contains("<AllowedOrigins>https://contoso.com</AllowedOrigins>"), "{kept}");
}
