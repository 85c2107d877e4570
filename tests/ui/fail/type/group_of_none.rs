use table_core::EntityGroup;

#[derive(EntityGroup)]
struct Nothing {}

fn main() {}
