use table_core::{Entity, KeyPart};

#[derive(KeyPart)]
enum Stage {
    Open,
    Closed,
}

#[derive(Entity)]
#[partition_key(tenant, stage)]
#[row_key(id)]
struct Ticket {
    tenant: String,
    stage: Stage,
    id: u32,
}

fn main() {
    let _ = Ticket::within("contoso").stage(Stage::Open..);
}
