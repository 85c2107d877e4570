use table_core::KeyPart;

#[derive(KeyPart)]
enum Stage {
    Draft,
    Final(u32),
}

fn main() {}
