//! Methods of tables and stores, called on results that were not awaited or unwrapped, and on types that are not stores.

use table_core::{Engine, Entity, TableStoreExt};

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
}

struct Fake;

async fn uses(store: Engine, ada: &Employee) -> table_core::Result<()> {
    let table = store.table::<Employee>().create_if_missing();
    table.insert(ada).await?; //~ T214
    let store = Engine::open("folder");
    let _ = store.table::<Employee>(); //~ T214
    let _ = Fake.table::<Employee>(); //~ T214
    Ok(())
}

fn main() {}
