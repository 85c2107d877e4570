use table_core::{Entity, TableStore, TableStoreExt};

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    id: u32,
}

async fn open(store: &(impl TableStore + Clone)) {
    let _ = store.table().create_if_missing().await;
}

fn main() {}
