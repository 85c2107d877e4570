#![deny(warnings)]

use table_core::Entity;

#[derive(Entity)]
#[partition_key(r#type)]
#[row_key(r#fn, "_", r#match)]
struct r#Struct {
    r#type: String,
    r#fn: u32,
    r#match: u8,
    r#where: i32,
}

/// Uses the declarations.
pub fn main() {
    assert_eq!(r#Struct::WHERE.name(), "Where");
    let key = r#Struct::key("a", 1, 2).key().unwrap();
    assert_eq!(key.row_key.as_str(), "0000000001_002");
    let _ = r#Struct::rows("a").fn_is(1).r#match(1..);
    let read = Struct { r#type: String::new(), r#fn: 1, r#match: 2, r#where: 3 };
    assert_eq!((read.r#fn, read.r#match, read.r#where, read.key_of().is_ok()), (1, 2, 3, true));
}
