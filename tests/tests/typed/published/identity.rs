//! Tests a table layout for user accounts.

use pollster::block_on;
use table_core::{Engine, Entity, EntitySet, TableEntity, TableStoreExt};

use super::both_ways;

/// A user of `ElCamino.AspNetCore.Identity.AzureTable`. The user's row shares a partition with related rows, whose `RowKey`s start with different letters. An
/// index finds the user by a hash of the normalised e-mail address (class `SHA256KeyHelper`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "AspNetUsers")]
#[partition_key("U_", user)]
#[row_key("U_", user)]
struct User {
    user: String,
    normalized_email: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "AspNetUsers")]
#[partition_key("U_", user)]
#[row_key("R_", hash(sha256, 64, role_name))]
struct UserRole {
    user: String,
    role_name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "AspNetIndex")]
#[partition_key("E_", hash(sha256, 64, normalized_email))]
#[row_key("U_", user)]
struct EmailOfUser {
    normalized_email: String,
    user: String,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum UserRow {
    User(User),
    Role(UserRole),
    #[other]
    Other(TableEntity),
}

#[test]
fn the_users_of_an_identity_store() {
    let user = || "3f1c".to_owned();
    let ada = User { user: user(), normalized_email: "ADA@CONTOSO.COM".to_owned() };
    let role = UserRole { user: user(), role_name: "ADA@CONTOSO.COM".to_owned() };
    let email = EmailOfUser { normalized_email: "ADA@CONTOSO.COM".to_owned(), user: user() };
    let hash = "34ee195b6db103bb37132929bc826ac603f0f76c2ff2fff94de9683a70cd51b1";
    both_ways(&ada, ("U_3f1c", "U_3f1c"));
    both_ways(&role, ("U_3f1c", &format!("R_{hash}")));
    both_ways(&email, (&format!("E_{hash}"), "U_3f1c"));
    block_on(async {
        let rows = Engine::in_memory().set::<UserRow>().create_if_missing().await.unwrap();
        let mut written = rows.transaction(&UserRow::User(ada.clone())).unwrap();
        let claim = TableEntity::new("U_3f1c", format!("C_{hash}")).unwrap();
        written.insert(&ada).unwrap().insert(&role).unwrap().insert(&claim).unwrap();
        written.commit().await.unwrap();
        let users = rows.store().table::<User>();
        let found = users.query(User::partition("3f1c")).read_as::<UserRow>().collect().await.unwrap();
        let [UserRow::Other(_), UserRow::Role(found_role), UserRow::User(found)] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((found_role, found), (&role, &ada));
        let emails = rows.store().table::<EmailOfUser>().create_if_missing().await.unwrap();
        emails.insert(&email).await.unwrap();
        let by_email = emails.query(EmailOfUser::partition("ADA@CONTOSO.COM")).collect().await.unwrap();
        assert_eq!(by_email, [email]);
    });
}
