//! Tests two entity types whose index rows would have the same keys. The second type may use these keys only after the table has been deleted.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::store::TableStore;
use table_core::{Entity, ErrorCode, QueueName, Result, TableName, TableStoreExt};
use table_patterns::EntityStore;
use table_patterns::outbox::Outbox;

macro_rules! person {
    ($person:ident, $prefix:literal) => {
        #[derive(Entity, Clone, Debug)]
        #[entity(table = "People")]
        #[partition_key(tenant)]
        #[row_key($prefix, id)]
        #[index(Emails, unique, partition_key("email"), row_key("by_", email))]
        struct $person {
            tenant: String,
            #[digits(6)]
            id: u32,
            email: String,
        }
    };
}

person!(Member, "member_");
person!(Guest, "guest_");

fn open<E: Entity + Send + Sync>(engine: &Engine) -> Result<()> {
    let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new("work")?);
    block_on(engine.entities_with_outbox::<E, _>(outbox).create_if_missing()).map(drop)
}

#[test]
fn claims_on_keys_of_a_table_end_when_any_program_deletes_the_table() {
    for by_handle in [true, false] {
        let engine = Engine::in_memory();
        open::<Member>(&engine).unwrap();
        let error = open::<Guest>(&engine).unwrap_err();
        assert_eq!((error.code(), error.table()), (ErrorCode::SchemaMismatch, Some("People")));
        if by_handle {
            assert!(block_on(engine.untyped("People").unwrap().delete_table()).unwrap());
        } else {
            block_on(engine.delete_table(&TableName::new("People").unwrap())).unwrap();
        }
        open::<Guest>(&engine).unwrap();
        assert_eq!(open::<Member>(&engine).unwrap_err().code(), ErrorCode::SchemaMismatch);
    }
}
