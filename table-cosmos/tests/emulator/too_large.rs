//! Tests that a batch that the service rejects because of its size is committed in parts, whatever the service's exact limit.

use std::fmt;
use std::sync::Arc;

use table_core::{Entity, ErrorCode, OperationKind, TableName, TableStore, TableStoreExt};
use table_cosmos::Options;
use table_cosmos::emulator::{Answer, Delivery, Emulator, Network, Request};

use crate::operation::{row, transaction};
use crate::runtime;

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Notes")]
#[partition_key(owner)]
#[row_key(number)]
struct Note {
    owner: String,
    #[digits(3)]
    number: u32,
    text: String,
}

/// A mock network that rejects each write with a body of more than `most` bytes with 413.
struct Narrow {
    account: Emulator,
    most: usize,
}

impl Network for Narrow {
    fn deliver(&self, request: Request) -> Delivery {
        let (account, most) = (self.account.clone(), self.most);
        Box::pin(async move {
            if request.is_write() && request.body.len() > most {
                let mut answer = Answer::new(
                    413,
                    r#"{"code":"RequestEntityTooLarge","message":"Request size is too large"}"#,
                );
                let activity = "00000000-0000-0000-0000-000000000001".to_owned();
                answer.headers.push(("x-ms-activity-id".to_owned(), activity));
                return Ok(answer);
            }
            account.receive(&request).await
        })
    }
}

impl fmt::Debug for Narrow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Narrow")
    }
}

#[test]
fn egt_3_and_lim_5_a_rejected_batch_is_divided_and_a_rejected_item_is_too_large() {
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        let network = Arc::new(Narrow { account: account.clone(), most: 60_000 });
        let store = account.open_over(Options::new(), network).await.unwrap();
        let table = TableName::new("Notes").unwrap();
        store.create_table(&table).await.unwrap();
        let rows = |rows: std::ops::Range<u32>, length: usize| {
            rows.map(move |at| (format!("x{at}"), OperationKind::Insert(row(&"x".repeat(length)))))
        };
        for (rows, expected) in [
            (transaction(&store, rows(0..2, 31_000)), (ErrorCode::RequestBodyTooLarge, Some("EGT-3"))),
            (transaction(&store, rows(0..1, 31_500)), (ErrorCode::EntityTooLarge, Some("LIM-5"))),
        ] {
            let most = if rows.operations().len() == 1 { 30_000 } else { 60_000 };
            let network = Arc::new(Narrow { account: account.clone(), most });
            let store = account.open_over(Options::new(), network).await.unwrap();
            let error = store.submit(&table, rows).await.unwrap_err();
            assert_eq!((error.code(), error.rule()), expected, "{error}");
            assert!(!error.is_ambiguous(), "{error}");
        }

        let note = |number| Note { owner: "ada".to_owned(), number, text: "x".repeat(2_000) };
        let notes: Vec<Note> = (0..100).map(note).collect();
        store.table::<Note>().bulk().insert_all(&notes).await.unwrap();
        let stored = store.table::<Note>().query(Note::partition("ada")).collect().await.unwrap();
        assert_eq!(stored.len(), notes.len());
    });
}
