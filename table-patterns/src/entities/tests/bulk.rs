//! Tests of the position that the error of a bulk write names.

use pollster::block_on;
use table_core::{Engine, Entity, ErrorCode};

use crate::EntityStore;

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
