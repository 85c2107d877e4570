use table_core::Entity;

#[derive(Entity)]
#[partition_key(hash(md5, 8, user))]
#[row_key(user)]
pub struct Cart {
    user: String,
}

fn main() {}
