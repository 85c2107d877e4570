//! Closures and plain structs passed where handlers, messages and participants are expected.

use table_patterns::outbox::{Outbox, Step};
use table_patterns::work::Worker;
use table_patterns::{Engine, Entity, EntityStore, Error};

#[derive(Entity)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
struct Ticket {
    tenant: String,
    number: u32,
}

fn uses(store: Engine, outbox: Outbox<Engine, Engine>, ticket: &Ticket) {
    let _ = Step::call(ticket); //~ T242
    let _ = Worker::new(outbox).handler(|message, delivery| async { Ok::<(), Error>(()) }); //~ T240
    let _ = store.with_participant::<Ticket>(|changes| Ok::<(), Error>(())); //~ T241
}

fn main() {}
