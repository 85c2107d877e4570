use table_core::{Entity, KeyPart};

#[derive(KeyPart)]
pub enum Stage {
    Open,
    Closed,
}

#[derive(Entity)]
#[partition_key(tenant, stage)]
#[row_key(id)]
pub struct Ticket {
    tenant: String,
    stage: Stage,
    id: u32,
}

fn main() {
    let _ = Ticket::within("contoso").stage(Stage::Open..);
}
