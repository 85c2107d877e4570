//! Tests that units refuse bad input. Each message must say how to correct the input, and nothing may be written.

use pollster::block_on;
use table_core::entity::Versioned;
use table_core::etag::ETag;
use table_core::{Entity, Error, ErrorCode};

use super::{Elsewhere, Ticket, desk, ticket, unit};

/// A file whose content occupies 800 KB, because a stored string takes two bytes per character.
#[derive(Entity, Clone)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("file_", number)]
struct File {
    tenant: String,
    #[digits(4)]
    number: u32,
    #[property(chunks)]
    text: String,
}

fn says(error: &Error, code: ErrorCode, advice: &str) {
    let text = error.to_string();
    assert_eq!(error.code(), code, "{text}");
    assert!(text.contains(advice) && error.key().is_some(), "{text}");
}

#[test]
fn each_refusal_says_what_to_do_and_nothing_is_written() {
    let (store, tickets) = desk();
    let mut one = unit(&tickets);
    one.insert(&ticket(1, "open", "one", 1)).unwrap();
    let (operations, bytes) = (one.operations(), one.bytes());

    let elsewhere = Ticket { tenant: "fabrikam".into(), ..ticket(2, "open", "two", 1) };
    let error = one.insert(&elsewhere).unwrap_err();
    says(
        &error,
        ErrorCode::CommandsInBatchActOnDifferentPartitions,
        "write it in another unit, or add a step",
    );
    let error = one.insert(&Elsewhere { tenant: "contoso".into() }).unwrap_err();
    says(&error, ErrorCode::InvalidInput, "declare both in one");
    let error = one.insert(&ticket(1, "open", "three", 1)).unwrap_err();
    says(&error, ErrorCode::InvalidDuplicateRow, "combine both changes into one");
    let error = one.insert(&ticket(3, "open", "one", 1)).unwrap_err();
    says(&error, ErrorCode::UniqueViolation, "choose another value");
    let read = Versioned::new(ticket(4, "open", "four", 1), ETag::from_ticks(1), 1);
    let error = one.replace(&read, &ticket(5, "open", "five", 1)).unwrap_err();
    says(&error, ErrorCode::InvalidInput, "insert it under the new key and delete the old one");
    let file = |number| File { tenant: "contoso".into(), number, text: "a".repeat(400_000) };
    let mut large = unit(&tickets);
    let error = (0..).find_map(|number| large.insert(&file(number)).err()).unwrap();
    says(&error, ErrorCode::RequestBodyTooLarge, "commit a part of it first");

    assert_eq!((one.operations(), one.bytes()), (operations, bytes), "the unit stays as it was");
    assert_eq!(store.calls(), []);
    assert!(block_on(tickets.get(Ticket::key("contoso", 1))).unwrap().is_none());
}
