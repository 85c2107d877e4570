use table_core::Entity;

#[derive(Entity)]
#[partition_key(tenant, "_", user)]
#[row_key(id)]
struct Employee {
    tenant: u32,
    user: u32,
    id: u32,
}

fn main() {
    let _ = Employee::partition(1);
}
