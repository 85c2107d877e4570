//! Tests requests signed with a wrong key, and SAS tokens with limited permissions.

use std::time::Duration;

use chrono::Utc;
use table_azure::AzureTables;
use table_core::{Entity, EntityKey, ErrorCode, PartitionKey, TableName, TableStoreExt};
use table_patterns::EntityStore;
use table_patterns::feed::Cursor;
use table_patterns::grant::PartitionGrant;
use table_wire::auth::AccountKey;
use table_wire::sas::{Lifetime, TablePermissions, TableSas};
use tests::ask::Ask;

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

/// Tests that a request with several `Authorization` headers is rejected. A proxy might verify a different header than the server.
#[test]
fn auth_1_several_authorization_headers_are_refused() {
    for ask in [Ask::new("GET", "Tables"), Ask::queue("GET", "?comp=list")] {
        assert_eq!(ask.of(&crate::SERVER).status, 200);
        for second in ["SharedKey contoso:AAAA", "Bearer a", ""] {
            let answer = ask.clone().also("authorization", second).of(&crate::SERVER);
            assert_eq!(answer.code(), (400, "InvalidAuthenticationInfo"), "{second}: {}", answer.body);
        }
    }
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

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "GrantedDesk", feed)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(ByMail, unique, row_key("mail_", mail))]
struct Ticket {
    tenant: String,
    #[digits(6)]
    number: u32,
    mail: String,
}

/// Tests a tenant with a SAS for one partition. The tenant can use the patterns in this partition, but cannot access other partitions.
#[test]
fn sas_8_a_tenant_with_a_grant_reads_by_an_index_and_writes_a_feed() {
    pollster::block_on(async {
        let owner = AzureTables::from_connection_string(&crate::SERVER).unwrap();
        let all = owner.entities::<Ticket>().create_if_missing().await.unwrap();
        let (contoso, expiry) =
            (PartitionKey::new("contoso").unwrap(), Utc::now() + Duration::from_secs(60 * 60));
        let key = AccountKey::new(crate::ACCOUNT, crate::KEY).unwrap();
        let sas = TableSas::table(TableName::new("GrantedDesk").unwrap()).partition("contoso").unwrap();
        let sas = sas
            .allow(TablePermissions::read("raud").unwrap())
            .lifetime(Lifetime::until(expiry))
            .sign(&key)
            .unwrap();
        let text = format!("TableEndpoint={};SharedAccessSignature={}", endpoint(), sas.query_string());
        let tenant = AzureTables::from_connection_string(&text).unwrap();
        let ticket = |tenant: &str| Ticket { tenant: tenant.into(), number: 1, mail: "ada".into() };
        let refused = tenant.entities::<Ticket>().insert(&ticket("contoso")).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::AuthorizationFailure);

        let text = all.grant(&contoso, expiry).await.unwrap().to_string();
        let grant: PartitionGrant = text.parse().unwrap();
        let tickets = tenant.entities::<Ticket>().with_grant(&grant).unwrap();
        tickets.insert(&ticket("contoso")).await.unwrap();
        let found = tickets.get(Ticket::by_mail("contoso", "ada")).await.unwrap();
        assert_eq!(found.as_deref(), Some(&ticket("contoso")));
        let entries =
            all.feed().read(all.table().name().unwrap(), &contoso, &Cursor::default(), 10).await.unwrap();
        assert_eq!(entries.len(), 1);
        for other in [
            tickets.insert(&ticket("fabrikam")).await.map(drop),
            tickets.get(Ticket::by_mail("fabrikam", "ada")).await.map(drop),
        ] {
            assert_eq!(other.unwrap_err().code(), ErrorCode::AuthorizationFailure);
        }
    });
}
