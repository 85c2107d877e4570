//! Tests that the error of a bulk write contains the position of the refused entity.

use std::collections::BTreeMap;

use pollster::block_on;
use proptest::prelude::*;
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

/// Returns the positions of users whose address belongs to a stored user outside the batch. Only these users can be refused. An address of another user in the
/// batch becomes free when the batch has been written.
fn refused(stored: &BTreeMap<u32, String>, batch: &[User]) -> Vec<usize> {
    let is_in_batch = |number: u32| batch.iter().any(|user| user.number == number);
    let is_taken = |mail: &String| stored.iter().any(|(number, own)| own == mail && !is_in_batch(*number));
    batch.iter().enumerate().filter(|(_, user)| is_taken(&user.mail)).map(|(at, _)| at).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn pat_intra_5_a_bulk_write_whose_users_exchange_addresses_names_a_refused_user(
        stored in Just((0..6_u32).collect::<Vec<_>>()).prop_shuffle(),
        numbers in prop::sample::subsequence((0..8_u32).collect::<Vec<_>>(), 1..7).prop_shuffle(),
        mails in Just((0..9_u32).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        block_on(async {
            let users = Engine::in_memory().entities::<User>().create_if_missing().await?;
            let with = |(number, mail): (u32, &u32)| User { mail: format!("mail{mail}"), ..user(number) };
            let before: Vec<_> = (0..).zip(&stored).map(with).collect();
            users.bulk().insert_all(&before).await.unwrap();
            let mut now: BTreeMap<_, _> = before.into_iter().map(|user| (user.number, user.mail)).collect();
            // The caller skips each refused user and continues with the others.
            let mut left: Vec<_> = numbers.into_iter().zip(&mails).map(with).collect();
            loop {
                let of_batch = refused(&now, &left);
                let (at, written) = match users.bulk().insert_or_replace_all(&left).await {
                    Ok(written) => (None, written),
                    Err(error) => {
                        assert_eq!(error.source.code(), ErrorCode::UniqueViolation, "{}", error.source);
                        assert!(error.unknown.is_empty());
                        (error.at, error.written)
                    }
                };
                assert_eq!(at.is_none(), of_batch.is_empty(), "{left:?} after {now:?}");
                assert!(at.is_none_or(|at| of_batch.contains(&at)), "{at:?} is not one of {of_batch:?}: {left:?} after {now:?}");
                let is_written = |position: &usize| written.contains(*position);
                now.extend(left.iter().enumerate().filter(|(at, _)| is_written(at)).map(|(_, user)| (user.number, user.mail.clone())));
                let Some(at) = at else { break };
                let rest = left.into_iter().enumerate().filter(|(position, _)| *position != at && !is_written(position));
                left = rest.map(|(_, user)| user).collect();
            }
            let found = users.query(User::rows("t")).collect().await?;
            let found: BTreeMap<_, _> = found.into_iter().map(|user| (user.number, user.mail)).collect();
            assert_eq!(found, now);
            Ok::<(), Error>(())
        })
        .unwrap();
    }
}

#[test]
fn pat_intra_5_the_users_before_a_refused_one_are_written_together() {
    block_on(async {
        let users = Engine::in_memory().entities::<User>().create_if_missing().await.unwrap();
        let with = |number, mail: &str| User { mail: mail.into(), ..user(number) };
        users.bulk().insert_all([with(1, "x"), with(2, "w"), with(9, "z")]).await.unwrap();
        let exchange = [with(2, "x"), with(1, "y"), with(3, "z")];
        let error = users.bulk().insert_or_replace_all(&exchange).await.unwrap_err();
        assert_eq!((error.source.code(), error.at), (ErrorCode::UniqueViolation, Some(2)));
        assert_eq!(error.written, (0..2).collect());
    });
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Teams")]
#[partition_key(tenant)]
#[row_key("player_", number)]
#[index_entity(ByTeam, at_most = 2, row_key("team_", team))]
struct Player {
    tenant: String,
    #[digits(4)]
    number: u32,
    team: String,
}

#[test]
fn pat_ix_4_a_bulk_write_whose_players_exchange_places_names_the_player_without_a_place() {
    block_on(async {
        let players = Engine::in_memory().entities::<Player>().create_if_missing().await.unwrap();
        let player = |number, team: &str| Player { tenant: "t".into(), number, team: team.into() };
        players.bulk().insert_all([player(1, "a"), player(2, "a")]).await.unwrap();
        let exchange = [player(3, "a"), player(1, "b"), player(4, "a")];
        let error = players.bulk().insert_or_replace_all(&exchange).await.unwrap_err();
        assert_eq!((error.source.code(), error.at), (ErrorCode::IndexListFull, Some(2)));
        assert_eq!(error.written, (0..2).collect());
    });
}

/// A participant that refuses a change to one user with the given error code.
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
