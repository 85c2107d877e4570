//! Tests that deleting a group keeps rows reserved for patterns, such as pending intents.

use pollster::block_on;
use serde::{Deserialize, Serialize};
use table_core::embedded::Engine;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::query::Query;
use table_core::queue::QueueName;
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::{Entity, Result};

use crate::EntityStore;
use crate::outbox::rows::everywhere;
use crate::outbox::{Intent, Message, Outbox, Step};
use crate::work::{Delivery, Handler, Worker};

#[derive(Serialize, Deserialize)]
pub(super) struct Mail(pub(super) String);

impl Message for Mail {
    const NAME: &'static str = "mail";
    const VERSION: u32 = 1;
}

/// A handler that does nothing.
pub(super) struct Nothing;

impl Handler<Mail> for Nothing {
    async fn handle(&self, _: &Mail, _: Delivery<'_>) -> Result<()> {
        Ok(())
    }
}

/// Declares a test in which an owner with the given row key has a pending intent and is deleted with its part.
macro_rules! an_owner {
    ($test:ident, [$($owner:tt)*], [$($part:tt)*]) => {
        #[test]
        fn $test() {
            #[derive(Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Accounts")]
            #[partition_key(tenant)]
            #[row_key($($owner)*)]
            struct Account {
                tenant: String,
                name: String,
            }

            #[derive(Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Accounts")]
            #[partition_key(tenant)]
            #[row_key($($part)*)]
            struct Line {
                tenant: String,
                #[digits(3)]
                number: u16,
            }

            let engine = Engine::in_memory();
            let accounts = block_on(engine.entities::<Account>().create_if_missing()).unwrap();
            let account = Account { tenant: "contoso".into(), name: "Contoso".into() };
            block_on(accounts.insert(&account)).unwrap();
            let line = Line { tenant: "contoso".into(), number: 1 };
            block_on(accounts.insert_part(Account::key("contoso"), &line)).unwrap();

            let table = TableName::new("Accounts").unwrap();
            let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new("work").unwrap());
            block_on(outbox.create_queues()).unwrap();
            let partition = PartitionKey::new("contoso").unwrap();
            let mut transaction = Transaction::new(partition, engine.capabilities().limits).unwrap();
            let step = Step::call(&Mail("hello".into())).unwrap();
            outbox.record(&mut transaction, &Intent::of(RowKey::new("").unwrap()).step(step)).unwrap();
            block_on(outbox.submit(&table, transaction)).unwrap();
            let intents = || block_on(engine.query(&table, &Query::new(everywhere()), None)).unwrap().rows;
            assert_eq!(intents().len(), 1);

            assert_eq!(block_on(accounts.delete_with_parts(Account::key("contoso"))).unwrap(), 2);
            assert_eq!(intents().len(), 1, "the intent is still pending");
            let worker = Worker::new(outbox).handler(Nothing);
            block_on(worker.run_until_idle()).unwrap();
            assert_eq!(worker.metrics().done, 1);
        }
    };
}

an_owner!(pat_ck_3_a_delete_of_an_owner_with_an_empty_key_keeps_pending_intents, [""], ["line_", number]);
an_owner!(
    pat_ck_3_a_delete_of_an_owner_with_a_literal_key_keeps_pending_intents,
    ["account"],
    ["account_line_", number]
);
