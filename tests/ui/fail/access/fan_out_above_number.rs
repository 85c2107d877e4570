use table_core::{Entity, access_patterns};

#[derive(Entity)]
#[partition_key("login_", bucket(user, 16))]
#[row_key(user)]
struct Login {
    user: u64,
}

access_patterns! {
    /// The queries of the guards.
    Guards for Login {
        all() <= fanout(8) = Login::all_partitions();
    }
}

fn main() {}
