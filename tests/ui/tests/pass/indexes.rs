//! Indexes of every kind compile without a prelude, over an alias of `Option`, with raw names and with private types.
#![no_implicit_prelude]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]

use ::table_core::{Entity, Projection};

type Maybe<T> = ::std::option::Option<T>;

#[derive(Entity)]
#[entity(table = "Things")]
#[partition_key(r#type)]
#[row_key("id_", id)]
#[index(Match, unique, table = "Matches", partition_key("match_", r#match), row_key(id), include(note))]
#[index(ByNote, row_key("note_", escaped(note), "!", id), when = is_noted)]
#[index(Spread, partition_key("s_", bucket(id, 4), "_", r#type), row_key(id))]
#[index_entity(Owners, at_most = 100, partition_key("owner_", owner), row_key("list"))]
struct Thing {
    r#type: ::std::string::String,
    id: u32,
    note: ::std::string::String,
    r#match: Maybe<i64>,
    #[property(json)]
    tags: ::std::vec::Vec<::std::string::String>,
    owner: Maybe<::std::string::String>,
}

#[derive(Projection)]
#[projection(of = Thing)]
struct Note {
    note: ::std::string::String,
}

fn is_noted(thing: &Thing) -> bool {
    !thing.note.is_empty()
}

/// Uses the declarations.
pub fn main() {
    let things = ::table_core::Engine::in_memory();
    let things = ::table_core::TableStoreExt::table::<Thing>(&things);
    let _ = things.get_as::<Note>(Thing::r#match(7_i64, 1_u32));
    let _ = things.query(Thing::by_note("a", "b"));
    let _ = things.query(Thing::by_note_rows("a").note_prefix("b")).project::<Note>();
    let _ = things.query(Thing::spread_rows("a").id(..7_u32));
    let _ = things.plan(Thing::owners("ada"));
    let note = Note { note: ::std::string::String::new() };
    let _ = note.note;
}
