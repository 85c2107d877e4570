//! A module without the prelude, because the module around it is without it. The attribute is in the other file.

/// An entity with several parts, one of them `unpadded`: the messages of all forms are generated for it in a module with the prelude.
#[derive(::table_core::Entity)]
#[partition_key(department)]
#[row_key(unpadded(id), "_", year)]
struct Review {
    department: ::std::string::String,
    id: ::core::primitive::u32,
    year: ::core::primitive::u16,
}

/// Uses the declaration.
pub fn main() {
    let _ = Review::rows("Sales").id_is(223).year(2012..);
    let _ = Review { department: ::std::string::String::new(), id: 7, year: 2012 }.year;
}
