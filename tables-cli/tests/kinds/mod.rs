//! Tables with each kind of derived row, such as index rows, copies and views. A program fills the tables and checks them.

#![allow(dead_code, reason = "each test uses some of the functions")]

mod sequence;

use std::path::Path;

use table_core::{Engine, ErrorCode, QueueName, Selection, TableEntity};
use table_patterns::copies::CopyRelation;
use table_patterns::outbox::Outbox;
use table_patterns::selection::Point;
use table_patterns::view::{Projection, View, ViewTable};
use table_patterns::wide::{Wide, WideStore as _};
use table_patterns::work::Worker;
use table_patterns::{Entity, EntityStore as _};

use crate::common::{block_on, tables};

/// Declares an entity type with a name and a RowKey of the form `id_…`.
macro_rules! entity {
    ($name:ident, $(#[$attribute:meta])*) => {
        #[derive(Clone, Debug, Entity, PartialEq)]
        #[partition_key(team)]
        #[row_key("id_", id)]
        $(#[$attribute])*
        struct $name {
            team: String,
            #[digits(4)]
            id: u32,
            name: String,
        }
    };
}

entity!(Indexed, #[entity(table = "Indexed", crate = table_patterns)] #[index(ByName, row_key("name_", id, "_", name))]);
entity!(Unique, #[entity(table = "Uniques", crate = table_patterns)] #[index(UniqueName, unique, row_key("name_", name))]);
entity!(Listed, #[entity(table = "Listed", crate = table_patterns)] #[index_entity(Namesakes, at_most = 100, row_key("namesakes_", name))]);
entity!(Fed, #[entity(table = "Fed", crate = table_patterns, feed)]);
entity!(Elsewhere, #[entity(table = "Elsewhere", crate = table_patterns)] #[index(InOther, table = "ByName", partition_key("name_", name), row_key(id, "_", team))]);
entity!(Across, #[entity(table = "Across", crate = table_patterns)] #[index(Other, partition_key("name_", name), row_key("x_", id, "_", team))]);

entity!(Counted, #[entity(table = "Counted", crate = table_patterns, feed)]);
entity!(Source, #[entity(table = "Sources", crate = table_patterns, copied_by(CopiedName))]);

/// An entity that contains a copy of the name of another entity in the same partition.
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Holders", crate = table_patterns, copies_from(CopiedName))]
#[partition_key(team)]
#[row_key("id_", id)]
struct Holder {
    team: String,
    #[digits(4)]
    id: u32,
    name: Option<String>,
}

struct CopiedName;

impl CopyRelation for CopiedName {
    type Source = Source;
    type Holder = Holder;
    type Copied = String;
    const NAME: &'static str = "name";

    fn reference(holder: &Holder) -> Option<Selection<Source, Point>> {
        Some(Source::key(&holder.team, holder.id))
    }

    fn copied(source: &Source) -> String {
        source.name.clone()
    }

    fn set(holder: &mut Holder, name: String) {
        holder.name = Some(name);
    }

    fn clear(holder: &mut Holder) {
        holder.name = None;
    }
}

/// A view row that contains the number of entities in a team.
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Sizes", crate = table_patterns)]
#[partition_key(team)]
#[row_key("id_0001")]
struct Size {
    team: String,
    members: i64,
}

struct Sizes;

impl View for Sizes {
    type Source = Counted;
    type Row = Size;

    fn project(entity: &Counted, view: &mut Projection<Size>) -> table_patterns::Result<()> {
        view.add(Size::key(&entity.team), Size::MEMBERS, 1)
    }
}

/// Inserts entities of both types in the copy relation. Returns the number of copied names that differ from the originals.
async fn visit_copies(engine: &Engine, ids: std::ops::Range<u32>, prefix: &str) -> u64 {
    let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new("outbox").unwrap());
    outbox.create_queues().await.unwrap();
    let sources = engine.entities_with_outbox::<Source, _>(outbox.clone()).create_if_missing().await.unwrap();
    let holders = engine.entities_with_outbox::<Holder, _>(outbox.clone()).create_if_missing().await.unwrap();
    for id in ids {
        let (team, name) = ("a".to_owned(), format!("{prefix}{id}"));
        sources.insert(&Source { team: team.clone(), id, name }).await.unwrap();
        holders.insert(&Holder { team, id, name: None }).await.unwrap();
    }
    let worker = Worker::new(outbox).with_index_handler(&sources).with_index_handler(&holders);
    worker.run_until_idle().await.unwrap();
    let mut wrong = 0;
    for id in 0..20 {
        let source = sources.get(Source::key("a", id)).await.unwrap().map(|source| source.name.clone());
        let holder = holders.get(Holder::key("a", id)).await.unwrap().map(|holder| holder.name.clone());
        wrong += u64::from(holder.is_some_and(|name| name != source));
    }
    wrong
}

/// Inserts entities counted by the view. Returns 1 if the view's count is wrong.
async fn visit_view(engine: &Engine, ids: std::ops::Range<u32>, prefix: &str) -> u64 {
    let is_new = !ids.is_empty();
    let entities = engine.entities::<Counted>().create_if_missing().await.unwrap();
    let view = ViewTable::<Sizes, _>::new(engine.clone()).create_if_missing().await.unwrap();
    if is_new {
        view.rebuild().run().await.unwrap();
    }
    for id in ids {
        entities.insert(&Counted { team: "a".to_owned(), id, name: format!("{prefix}{id}") }).await.unwrap();
    }
    view.catch_up(100).await.unwrap();
    let rows = match view.table().await {
        // The program detects that the view is incomplete, which is not a defect.
        Err(error) if error.code() == ErrorCode::IndexNotReady => return 0,
        rows => rows.unwrap(),
    };
    let mut members = 0;
    for id in 0..20 {
        members += i64::from(entities.get(Counted::key("a", id)).await.unwrap().is_some());
    }
    let found = rows.get(Size::key("a")).await.unwrap();
    u64::from(found.map_or(0, |size| size.members) != members)
}

#[derive(Debug, PartialEq, Wide)]
#[entity(table = "Days", crate = table_patterns)]
#[partition_key(team)]
#[row_key(year)]
struct Attendance {
    team: String,
    #[digits(4)]
    year: u16,
    #[slots("Day", 1..=366)]
    days: [Option<i32>; 366],
}

/// Opens the table of one entity type, inserts entities, and returns the number of defects found by a check.
macro_rules! visit {
    ($engine:expr, $entity:ident, $fill:expr, $prefix:expr) => {{
        let outbox = Outbox::new($engine.clone(), $engine.clone(), QueueName::new("outbox").unwrap());
        outbox.create_queues().await.unwrap();
        let handle =
            $engine.entities_with_outbox::<$entity, _>(outbox.clone()).create_if_missing().await.unwrap();
        for id in $fill {
            let name = format!("{}{id}", $prefix);
            handle.insert(&$entity { team: "a".to_owned(), id, name }).await.unwrap();
        }
        Worker::new(outbox).with_index_handler(&handle).run_until_idle().await.unwrap();
        handle.check().run().await.unwrap().found
    }};
}

/// A kind of derived row to test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Indexed,
    Unique,
    Listed,
    Fed,
    Elsewhere,
    Across,
    Wide,
    Source,
    Holder,
    View,
    Sequence,
}

pub(crate) const KINDS: [Kind; 11] = [
    Kind::Indexed,
    Kind::Unique,
    Kind::Listed,
    Kind::Fed,
    Kind::Elsewhere,
    Kind::Across,
    Kind::Wide,
    Kind::Source,
    Kind::Holder,
    Kind::View,
    Kind::Sequence,
];

impl Kind {
    pub(crate) fn table(self) -> &'static str {
        match self {
            Self::Indexed => "Indexed",
            Self::Unique => "Uniques",
            Self::Listed => "Listed",
            Self::Fed => "Fed",
            Self::Elsewhere => "Elsewhere",
            Self::Across => "Across",
            Self::Wide => "Days",
            Self::Source => "Sources",
            Self::Holder => "Holders",
            Self::View => "Sizes",
            Self::Sequence => "Numbered",
        }
    }

    /// Inserts entities whose names begin with `prefix` into the store in a folder. Returns the number of defects then found by the user's program and by
    /// `tables check`.
    pub(crate) fn visit(self, folder: &Path, ids: std::ops::Range<u32>, prefix: &str) -> u64 {
        let found = block_on(async {
            let engine = Engine::open(folder).unwrap();
            let found = match self {
                Self::Indexed => visit!(engine, Indexed, ids, prefix),
                Self::Unique => visit!(engine, Unique, ids, prefix),
                Self::Listed => visit!(engine, Listed, ids, prefix),
                Self::Fed => visit!(engine, Fed, ids, prefix),
                Self::Elsewhere => visit!(engine, Elsewhere, ids, prefix),
                Self::Across => visit!(engine, Across, ids, prefix),
                Self::Source | Self::Holder => visit_copies(&engine, ids, prefix).await,
                Self::View => visit_view(&engine, ids, prefix).await,
                Self::Sequence => sequence::visit(&engine, ids, prefix).await,
                Self::Wide => {
                    let years = engine.wide::<Attendance>().create_if_missing().await.unwrap();
                    for year in ids.clone() {
                        let year = u16::try_from(2000 + year).unwrap();
                        let days = [Some(1); 366];
                        years.insert(&Attendance { team: "a".to_owned(), year, days }).await.unwrap();
                    }
                    0
                }
            };
            engine.close().await.unwrap();
            found
        });
        let line = format!("check {} --store {}", self.table(), folder.display());
        let (exit, text) = tables(folder, &line);
        found + u64::from(exit.is_err() || text.contains("fault"))
    }
}

/// Returns the names of all tables in a folder, and the rows of the tables.
pub(crate) fn contents(folder: &Path) -> Vec<String> {
    block_on(async {
        let engine = Engine::open(folder).unwrap();
        let store = table_core::DynTableStore::new(engine.clone());
        let mut rows = Vec::new();
        for name in tables_cli::rows::all_tables(&store).await.unwrap() {
            rows.push(name.to_string());
            let query = table_core::Query::new(table_core::query::KeyRange::ALL);
            let mut pages = tables_cli::rows::Pages::new(&store, &name, query);
            while let Some(page) = pages.next().await.unwrap() {
                for entity in page.rows.iter() {
                    let row: TableEntity = table_core::FromEntity::from_entity(entity).unwrap();
                    rows.push(format!("{:?} {:?}", row.key(), row.iter().collect::<Vec<_>>()));
                }
            }
        }
        drop(store);
        engine.close().await.unwrap();
        rows
    })
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    if to.exists() {
        std::fs::remove_dir_all(to).unwrap();
    }
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to.join(entry.file_name()));
        } else {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}
