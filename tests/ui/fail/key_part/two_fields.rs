use table_core::KeyPart;

#[derive(KeyPart)]
struct Place(u32, u32);

fn main() {}
