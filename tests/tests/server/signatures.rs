//! Signatures by another key, and shared access signatures with restricted permissions.

use std::time::Duration;

use chrono::Utc;
use table_azure::AzureTables;
use table_core::{EntityKey, ErrorCode, TableName, TableStoreExt};
use table_wire::auth::AccountKey;
use table_wire::sas::{TablePermissions, TableSas};

fn endpoint() -> String {
    let part = crate::SERVER.split(';').find_map(|part| part.strip_prefix("TableEndpoint="));
    part.unwrap().to_owned()
}

#[test]
fn auth_1_another_key_is_refused() {
    let wrong = crate::SERVER.replace(&format!("AccountKey={}", crate::KEY), "AccountKey=b3RoZXI=");
    assert_ne!(wrong, *crate::SERVER);
    let store = AzureTables::from_connection_string(&wrong).unwrap();
    let created = pollster::block_on(store.untyped("Signatures").unwrap().create_if_missing());
    assert_eq!(created.unwrap_err().code(), ErrorCode::AuthenticationFailed);
}

#[test]
fn sas_8_a_token_reads_only_its_partition() {
    pollster::block_on(async {
        let owner = AzureTables::from_connection_string(&crate::SERVER).unwrap();
        owner.untyped("Shared").unwrap().create_if_missing().await.unwrap();
        let key = AccountKey::new(crate::ACCOUNT, crate::KEY).unwrap();
        let sas = TableSas::table(TableName::new("Shared").unwrap()).allow(TablePermissions::READ);
        let sas = sas
            .partition("Sales")
            .unwrap()
            .valid_for(Utc::now(), Duration::from_secs(60 * 60))
            .sign(&key)
            .unwrap();
        let text = format!("TableEndpoint={};SharedAccessSignature={}", endpoint(), sas.query_string());
        let reader = AzureTables::from_connection_string(&text).unwrap().untyped("Shared").unwrap();
        assert!(reader.get(&EntityKey::new("Sales", "1").unwrap()).await.unwrap().is_none());
        let elsewhere = reader.get(&EntityKey::new("Marketing", "1").unwrap()).await.unwrap_err();
        assert_eq!(elsewhere.code(), ErrorCode::AuthorizationFailure);
    });
}
