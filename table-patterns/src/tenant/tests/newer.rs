//! Tests tenants with rows in other partitions or tables that only a newer program is aware of.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::queue::QueueName;
use table_core::{Entity, ErrorCode};

use crate::EntityStore;
use crate::outbox::Outbox;
use crate::tenant::Tenant;
use crate::work::Worker;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Rooms")]
#[partition_key(tenant)]
#[row_key("room_", number)]
struct Room {
    tenant: String,
    #[digits(4)]
    number: u32,
    owner: String,
}

mod later {
    use table_core::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Rooms")]
    #[partition_key(tenant)]
    #[row_key("room_", number)]
    #[index(ByOwner, unique, table = "Owners", partition_key(owner), row_key("owner"))]
    pub(super) struct Room {
        pub(super) tenant: String,
        #[digits(4)]
        pub(super) number: u32,
        pub(super) owner: String,
    }
}

#[test]
fn a_program_does_not_erase_a_tenant_with_remote_rows_that_only_a_newer_program_knows() {
    let store = Engine::in_memory();
    let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("rooms").unwrap());
    block_on(outbox.create_queues()).unwrap();
    let rooms = block_on(store.entities::<Room>().create_if_missing()).unwrap();
    let tenant = Tenant::new().with_entities(&rooms, Room::partition("contoso")).unwrap();
    block_on(rooms.insert(&Room { tenant: "contoso".into(), number: 1, owner: "ada".into() })).unwrap();

    let newer = store.entities_with_outbox::<later::Room, _>(outbox.clone());
    let newer = block_on(newer.create_if_missing()).unwrap();
    let room = later::Room { tenant: "contoso".into(), number: 2, owner: "ben".into() };
    block_on(newer.insert(&room)).unwrap();
    block_on(Worker::new(outbox).with_index_handler(&newer).run_until_idle()).unwrap();

    for refused in [block_on(tenant.erase()).map(drop), block_on(tenant.remaining()).map(drop)] {
        let error = refused.unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch);
        assert!(error.message().contains("index ByOwner"), "{error}");
    }
    let tenant = Tenant::new().with_entities(&newer, later::Room::partition("contoso")).unwrap();
    assert!(block_on(tenant.remaining()).unwrap() > 2);
    assert!(block_on(tenant.erase()).unwrap().remote_rows > 0);
    assert_eq!(block_on(tenant.remaining()).unwrap(), 0);
}
