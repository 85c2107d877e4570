use table_core::Entity;

#[derive(Entity)]
#[partition_key("user_", folded(lower, user))]
#[row_key(user)]
struct Cart {
    user: String,
}

fn main() {
    Cart::partitions_by_user("a".."n");
}
