use table_core::KeyPart;

#[derive(KeyPart)]
enum Stage {
    Draft,
    #[key_part("Draft")]
    Final,
}

fn main() {}
