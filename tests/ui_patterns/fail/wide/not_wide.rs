use table_patterns::wide::WideStore;
use table_patterns::{Entity, embedded::Engine};

#[derive(Entity)]
#[partition_key(employee)]
#[row_key(year)]
struct YearOfCounts {
    employee: u32,
    year: u16,
}

fn main() {
    Engine::in_memory().wide::<YearOfCounts>();
}
