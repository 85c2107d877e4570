//! Tests of the position that the error of a bulk write names.

use pollster::block_on;
use table_core::{Engine, Entity, Error, ErrorCode, IfMatch, Result, TableEntity, TableStoreExt};

use crate::EntityStore;
use crate::participant::{Changes, Participant};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Users")]
#[partition_key(tenant)]
#[row_key("user_", number)]
#[index(ByMail, unique, row_key("mail_", mail))]
struct User {
    tenant: String,
    #[digits(4)]
    number: u32,
    mail: String,
}

fn user(number: u32) -> User {
    User { tenant: "t".into(), number, mail: format!("{number}@contoso.com") }
}

#[test]
fn the_error_of_a_bulk_write_names_the_entity_whose_unique_value_is_taken() {
    block_on(async {
        let users = Engine::in_memory().entities::<User>().create_if_missing().await.unwrap();
        users.insert(&User { mail: "17@contoso.com".into(), ..user(900) }).await.unwrap();
        let error = users.bulk().insert_all((0..20).map(user)).await.unwrap_err();
        assert_eq!((error.source.code(), error.at), (ErrorCode::UniqueViolation, Some(17)));
        assert!(error.written.contains(16) && !error.written.contains(17));
        let rest = (0..20).map(user).map(|user| User { mail: format!("new{}", user.mail), ..user });
        users.bulk().resume(error.written).insert_all(rest).await.unwrap();
    });
}

#[test]
fn the_error_of_a_bulk_delete_names_the_missing_entity() {
    block_on(async {
        let users = Engine::in_memory().entities::<User>().create_if_missing().await.unwrap();
        users.bulk().insert_all((0..20).filter(|number| *number != 13).map(user)).await.unwrap();
        let error = users.bulk().delete_all((0..20).map(|number| User::key("t", number))).await.unwrap_err();
        assert_eq!((error.source.code(), error.at), (ErrorCode::ResourceNotFound, Some(13)));
    });
}

/// A participant that refuses the change of one user, with an error of a given code.
struct Refuses(u32, ErrorCode);

impl Participant<User> for Refuses {
    fn name(&self) -> &'static str {
        "refuses"
    }

    fn changes(&self, old: Option<&User>, new: Option<&User>, _: &mut Changes) -> Result<()> {
        match new.or(old) {
            Some(user) if user.number == self.0 => Err(Error::new(self.1, "refused")),
            _ => Ok(()),
        }
    }
}

const REFUSALS: [ErrorCode; 13] = [
    ErrorCode::Unsupported,
    ErrorCode::KeyEncoding,
    ErrorCode::PropertyValueTooLarge,
    ErrorCode::OutOfRangeInput,
    ErrorCode::InvalidInput,
    ErrorCode::RequestBodyTooLarge,
    ErrorCode::InvalidDuplicateRow,
    ErrorCode::EntityMismatch,
    ErrorCode::EntityAlreadyExists,
    ErrorCode::UpdateConditionNotSatisfied,
    ErrorCode::UniqueViolation,
    ErrorCode::SchemaMismatch,
    ErrorCode::Corrupted,
];

#[test]
fn the_error_of_a_bulk_write_names_the_entity_that_a_participant_refuses() {
    block_on(async {
        for (code, refused) in REFUSALS.into_iter().flat_map(|code| [0, 4, 11].map(|at| (code, at))) {
            for verb in 0..4 {
                let store = Engine::in_memory();
                let users = store.entities::<User>().create_if_missing().await.unwrap();
                if verb > 0 {
                    users.bulk().insert_all((0..12).map(user)).await.unwrap();
                }
                let store = store.with_participant::<User>(Refuses(refused, code));
                let users = store.entities::<User>().create_if_missing().await.unwrap();
                let all = || (0..12).map(user);
                let written = match verb {
                    0 => users.bulk().insert_all(all()).await,
                    1 => users.bulk().insert_or_replace_all(all()).await,
                    2 => users.bulk().insert_or_merge_all(all()).await,
                    _ => users.bulk().delete_all((0..12).map(|number| User::key("t", number))).await,
                };
                let error = written.unwrap_err();
                let at = usize::try_from(refused).unwrap();
                assert_eq!((error.source.code(), error.at), (code, Some(at)), "verb {verb}");
            }
        }
    });
}

#[test]
fn the_error_of_a_bulk_write_names_the_stored_entity_that_cannot_be_read() {
    block_on(async {
        let store = Engine::in_memory();
        let users = store.entities::<User>().create_if_missing().await.unwrap();
        users.bulk().insert_all((0..12).map(user)).await.unwrap();
        let damaged = TableEntity::new("t", "user_0007").unwrap().with("Mail", 7);
        store.untyped("Users").unwrap().merge(&damaged, IfMatch::Any).await.unwrap();
        let replaced = users.bulk().insert_or_replace_all((0..12).map(user)).await.unwrap_err();
        assert_eq!((replaced.source.code(), replaced.at), (ErrorCode::EntityMismatch, Some(7)));
        let keys = (0..12).map(|number| User::key("t", number));
        let deleted = users.bulk().delete_all(keys).await.unwrap_err();
        assert_eq!((deleted.source.code(), deleted.at), (ErrorCode::EntityMismatch, Some(7)));
    });
}
