//! Tests that Azurite accepts the SAS tokens that this library creates. The requests include permitted and rejected ones (SAS, ASAS, ACL rules).

use std::time::Duration;

use chrono::Utc;
use pollster::block_on;
use table_azure::sas::{
    AccessPolicy, AccountPermissions, AccountSas, Lifetime, Protocol, ResourceTypes, SasToken, Services,
    StoredAccessPolicy, TablePermissions, TableSas,
};
use table_azure::{AccountKey, AzureQueues, AzureTables, ConnectionString, Credential};
use table_core::queue::PutMessage;
use table_core::{ErrorCode, QueueStore, TableStore};
use tests::suite::queues;
use tests::suite::scene::{Scene, a, refused};

const HOUR: Duration = Duration::from_secs(60 * 60);

struct Account {
    tables: AzureTables,
    key: AccountKey,
    parsed: ConnectionString,
}

impl Account {
    fn open() -> Option<Self> {
        let text = crate::azurite()?;
        let parsed: ConnectionString = text.parse().unwrap();
        let Credential::SharedKey(key) = parsed.credential().clone() else { panic!("a key") };
        Some(Self {
            tables: AzureTables::from_connection_string_with(&text, crate::patient()).unwrap(),
            key,
            parsed,
        })
    }

    /// Returns a client with the token as its only credential.
    fn with(&self, token: &SasToken) -> AzureTables {
        AzureTables::with_options(self.parsed.table_endpoint().unwrap(), token.into(), crate::patient())
            .unwrap()
    }
}

#[test]
fn sas_2_5_and_11_a_table_token_opens_its_table_for_its_operations() {
    let Some(account) = Account::open() else { return };
    block_on(async {
        let scene = Scene::new(&account.tables).await;
        scene.fill([("p", "1")]).await;
        let read = TableSas::table(scene.table.clone()).allow(TablePermissions::READ);
        let reader = account.with(&read.clone().valid_for(Utc::now(), HOUR).sign(&account.key).unwrap());
        let reader = Scene { store: &reader, table: scene.table.clone() };
        assert!(reader.read("p", "1").await.is_some());
        refused(reader.insert("p", "2", a(1)).await, ErrorCode::AuthorizationPermissionMismatch);

        let whole = read.allow(TablePermissions::read("aud").unwrap()).partition("p").unwrap();
        let whole = whole.protocol(Protocol::HttpsAndHttp).addresses("127.0.0.1");
        let writer = account.with(&whole.valid_for(Utc::now(), HOUR).sign(&account.key).unwrap());
        let writer = Scene { store: &writer, table: scene.table.clone() };
        writer.insert("p", "2", a(1)).await.unwrap();
        writer.insert_or_replace("p", "2", a(2)).await.unwrap();
        writer.delete("p", "2", table_core::IfMatch::Any).await.unwrap();
        assert!(writer.store.create_table(&tests::suite::scene::fresh_name()).await.is_err());
        assert!(
            Scene { store: writer.store, table: Scene::new(&account.tables).await.table }
                .insert("p", "1", a(1))
                .await
                .is_err()
        );
    });
}

#[test]
fn sas_11_time_and_signature_are_verified() {
    let Some(account) = Account::open() else { return };
    block_on(async {
        let scene = Scene::new(&account.tables).await;
        let sas = TableSas::table(scene.table.clone()).allow(TablePermissions::READ);
        let over = sas.clone().lifetime(Lifetime::until(Utc::now() - HOUR)).sign(&account.key).unwrap();
        let early = sas.clone().lifetime(Lifetime::until(Utc::now() + 2 * HOUR).starting(Utc::now() + HOUR));
        let other = AccountKey::new("devstoreaccount1", "b3RoZXI=").unwrap();
        let forged = sas.valid_for(Utc::now(), HOUR).sign(&other).unwrap();
        for token in [over, early.sign(&account.key).unwrap(), forged] {
            let client = account.with(&token);
            let read = Scene { store: &client, table: scene.table.clone() };
            let key = table_core::EntityKey::new("p", "1").unwrap();
            let answer = read.store.get(&read.table, &key, &table_core::query::Select::All).await;
            // The service responds with AuthenticationFailed, and Azurite responds with AuthorizationFailure. Both codes have the status 403.
            assert_eq!(answer.unwrap_err().code().status(), 403);
        }
    });
}

#[test]
fn acl_1_2_and_4_policies_are_kept_and_supply_what_tokens_omit() {
    let Some(account) = Account::open() else { return };
    block_on(async {
        let scene = Scene::new(&account.tables).await;
        scene.fill([("p", "1")]).await;
        assert_eq!(account.tables.access_policies(&scene.table).await.unwrap(), []);
        let at = |seconds| chrono::DateTime::from_timestamp(Utc::now().timestamp() + seconds, 0);
        // Azurite rejects a policy without a start time, although ACL-2 makes the start optional.
        let policy =
            AccessPolicy { start: at(-60), expiry: at(3_600), permissions: Some(TablePermissions::READ) };
        let policies = ["readers", "a <&> b"].map(|id| StoredAccessPolicy::new(id, policy).unwrap());
        account.tables.set_access_policies(&scene.table, &policies).await.unwrap();
        assert_eq!(account.tables.access_policies(&scene.table).await.unwrap(), policies);

        let token = TableSas::table(scene.table.clone()).policy("readers").sign(&account.key).unwrap();
        let client = account.with(&token);
        let reader = Scene { store: &client, table: scene.table.clone() };
        assert!(reader.read("p", "1").await.is_some());
        refused(reader.insert("p", "2", a(1)).await, ErrorCode::AuthorizationPermissionMismatch);

        account.tables.set_access_policies(&scene.table, &[]).await.unwrap();
        let key = table_core::EntityKey::new("p", "1").unwrap();
        let revoked = reader.store.get(&reader.table, &key, &table_core::query::Select::All).await;
        assert_eq!(revoked.unwrap_err().code().status(), 403, "ACL-4");
    });
}

#[test]
fn asas_2_and_4_an_account_token_opens_tables_and_queues() {
    let Some(account) = Account::open() else { return };
    let everything = |services| {
        let permissions = AccountPermissions::read("rwdlacup").unwrap();
        let types = ResourceTypes::CONTAINER.and(ResourceTypes::OBJECT);
        AccountSas::new(services, types, permissions, Lifetime::valid_for(Utc::now(), HOUR))
            .sign(&account.key)
            .unwrap()
    };
    block_on(async {
        let tables = account.with(&everything(Services::TABLE));
        let scene = Scene::new(&tables).await;
        scene.fill([("p", "1")]).await;
        assert!(scene.read("p", "1").await.is_some());

        let token = everything(Services::QUEUE);
        let queue_endpoint = account.parsed.queue_endpoint().unwrap();
        let client = AzureQueues::with_options(queue_endpoint, (&token).into(), crate::patient()).unwrap();
        let queue = queues::fresh_name();
        assert!(client.create_queue(&queue).await.unwrap());
        client.put(&queue, PutMessage::new("x")).await.unwrap();
        assert_eq!(client.receive(&queue, 1, HOUR).await.unwrap()[0].message.text, "x");
        // The token is valid only for the queue service.
        let wrong =
            Scene { store: &account.with(&token), table: scene.table.clone() }.insert("p", "2", a(1)).await;
        refused(wrong, ErrorCode::AuthorizationServiceMismatch);
    });
}

#[test]
fn azurite_does_not_apply_ranges_of_keys() {
    let Some(account) = Account::open() else { return };
    block_on(async {
        let scene = Scene::new(&account.tables).await;
        scene.fill([("p", "1"), ("q", "1")]).await;
        let token =
            TableSas::table(scene.table.clone()).allow(TablePermissions::READ).partition("p").unwrap();
        let reader = account.with(&token.valid_for(Utc::now(), HOUR).sign(&account.key).unwrap());
        let reader = Scene { store: &reader, table: scene.table.clone() };
        assert!(reader.read("p", "1").await.is_some());
        assert!(reader.read("q", "1").await.is_some());
    });
}
