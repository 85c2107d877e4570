#![no_implicit_prelude]

pub mod child;

/// A module to which a path without a leading `::` would refer instead of to the crate.
mod core {}
#[expect(dead_code, reason = "only a conflicting name")]
trait KeyText {
    fn part(&self) {}
    fn write_to(&self) {}
    fn encode(&self) {}
}
impl<T> KeyText for T {}

/// A trait with methods that take precedence over methods of `&self` with the same names.
#[expect(dead_code, reason = "only conflicting names")]
trait ByValue: ::core::marker::Sized {
    fn bytes(self) {}
    fn copy(self) {}
    fn debug(self) {}
    fn fail(self) {}
    fn finish(self) {}
    fn key_text(self) {}
    fn literal(self) {}
    fn properties(self) {}
    fn property(self) {}
    fn range(self) {}
    fn ranges(self) {}
    fn row_key(self) {}
    fn select(self) {}
    fn select_points(self) {}
    fn skip(self) {}
}
impl<T> ByValue for T {}

#[derive(::table_core::KeyPart)]
#[digits(9)]
struct Badge(::core::primitive::u32);

#[derive(::table_core::KeyPart)]
enum Stage {
    Draft,
    Final,
}

#[derive(::table_core::Projection)]
#[projection(of = Employee)]
struct Age {
    age: ::core::option::Option<::core::primitive::i32>,
}

#[derive(::table_core::Entity)]
#[partition_key(bucket(id, 4), "_", department)]
#[row_key("empid_", digits(6, id), "_", desc(at), stage)]
#[index(ByAge, unique, row_key("age_", age))]
struct Employee {
    department: ::std::string::String,
    id: ::core::primitive::u32,
    at: ::core::primitive::u64,
    stage: Stage,
    badge: ::table_core::Json<::std::string::String>,
    age: ::core::option::Option<::core::primitive::i32>,
    #[property(json)]
    notes: ::std::vec::Vec<::std::string::String>,
}

/// Uses the declarations.
pub fn main() {
    child::main();
    let _ = Employee::key("Sales", 223, 7_u64, Stage::Draft);
    let _ = Employee::rows("Sales").id_is(223).at(7..=9);
    let _ = <Age as ::table_core::FromEntity>::select();
    let (age, badge) = (Age { age: ::core::option::Option::Some(7) }, Badge(7));
    let _ = (Stage::Final, read(&age, &badge));
}

fn read(age: &Age, badge: &Badge) -> ::core::primitive::bool {
    age.age.is_some() && badge.0 > 0
}
