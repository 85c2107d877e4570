//! A fixture with persons in two releases. The newer release adds a nickname.

use table_core::EntityKey;
use table_core::entity::Entity;
use table_patterns::index::{Derived, EntryFingerprint, RemoteChange};

macro_rules! release {
    ($release:ident $(, $nickname:ident)?) => {
        pub(in super::super) mod $release {
            #[derive(table_core::Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Crew")]
            #[partition_key(department)]
            #[row_key("person_", id)]
            #[index(ByEmail, unique, row_key("email_", email))]
            #[index(ByTeam, row_key("team_", team, "_", id), when = Person::is_active)]
            #[index(Directory, table = "Directory", partition_key("in_", department), row_key(email, "_", id))]
            #[index_entity(ByLevel, at_most = 100, row_key("level_", level))]
            pub(crate) struct Person {
                pub department: String,
                #[digits(4)]
                pub id: u32,
                #[without('_')]
                pub email: String,
                #[without('_')]
                pub team: String,
                #[digits(2)]
                pub level: Option<u8>,
                pub is_active: bool,
                $(pub $nickname: Option<String>,)?
            }

            impl Person {
                fn is_active(&self) -> bool {
                    self.is_active
                }
            }
        }
    };
}

release!(before);
release!(after, nickname);

/// Returns a person as declared by the older release.
pub(in super::super) fn person(id: u32, round: u32) -> before::Person {
    let level = u8::try_from(round % 5).ok();
    let (email, team) = (format!("mail{}", round % 40), format!("team{}", round % 3));
    before::Person { department: "Sales".into(), id, email, team, level, is_active: !round.is_multiple_of(4) }
}

/// Returns a recorded change that makes the older release write a person's copy in the other table again.
pub(in super::super) fn copied(id: u32) -> RemoteChange {
    let index = before::Person::SCHEMA.indexes.iter().find(|index| index.name == "Directory").unwrap();
    let key = EntityKey::new("in_Sales", format!("{}_{id:04}", person(id, id).email)).unwrap();
    let owner = before::Person::key("Sales", id).key().unwrap();
    let (of, fingerprint) = (Derived::Index(index), EntryFingerprint::Unknown);
    RemoteChange { of, owner, keys: vec![key], fingerprint }
}

/// Returns a person as declared by the newer release.
pub(in super::super) fn person_with(id: u32, round: u32, nickname: &str) -> after::Person {
    let before::Person { department, id, email, team, level, is_active } = person(id, round);
    after::Person { department, id, email, team, level, is_active, nickname: Some(nickname.to_owned()) }
}
