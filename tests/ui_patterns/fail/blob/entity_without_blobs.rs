use std::sync::Arc;

use table_patterns::blob::object_store::memory::InMemory;
use table_patterns::large::LargeTable;
use table_patterns::{Entity, TableStoreExt, embedded::Engine};

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
}

fn main() {
    let table = Engine::in_memory().table::<Employee>();
    LargeTable::new(table, Arc::new(InMemory::new()), "staff");
}
