//! Answers that were lost, and how what really happened is told (CON-11).

use table_core::etag::IfMatch;
use table_core::{ETag, ErrorCode, OperationKind, TableStore};

use super::server::*;
use crate::Options;

/// Within the time of the attempts: the server's clock stands at 08:00:00 when it is asked.
const NOW: &str = "2026-11-20T07:59:59.5Z";
const BEFORE: &str = "2026-11-20T07:59:50Z";

fn stale() -> IfMatch {
    ETag::parse("W/\"datetime'2026-11-20T07%3A00%3A00Z'\"").unwrap().into()
}

fn now() -> String {
    "W/\"datetime'2026-11-20T07%3A59%3A59.5Z'\"".to_owned()
}

/// One operation on `(p, r)` against a script; what it gave and how many requests it took.
async fn one(
    replies: impl IntoIterator<Item = Reply>,
    kind: OperationKind,
) -> (Result<Option<String>, ErrorCode>, usize) {
    let server = Server::start(replies).await;
    let client = server.client(Options::new());
    let outcome = submit(&client, [("r", kind)]).await;
    if let Err(error) = &outcome {
        assert_eq!((error.operation(), error.key()), (Some(0), Some(("p", "r"))), "{error}");
    }
    (outcome.map(|etags| etags[0].clone()).map_err(|error| error.code()), server.received().len())
}

#[tokio::test(start_paused = true)]
async fn con_11_insert_then_409_is_ours_where_the_entity_is() {
    let exists = || refusal(409, "EntityAlreadyExists");
    let insert = || OperationKind::Insert(row(1));
    for lost in [Reply::Cut, Reply::Silence, refusal(500, "OperationTimedOut"), answer(504, &[], "")] {
        // The entity is as we sent it and of this time. A lost answer costs its 35 s, and the time of the server with them.
        let found = match lost {
            Reply::Silence => "2026-11-20T07:59:24.5Z",
            _ => NOW,
        };
        let (outcome, requests) = one([lost.clone(), exists(), entity(found, 1)], insert()).await;
        assert!(outcome.is_ok() && requests == 3, "{lost:?}: {outcome:?}");
        // It was there before.
        let outcome = one([lost.clone(), exists(), entity("2026-11-20T07:59:00Z", 1)], insert()).await;
        assert_eq!(outcome, (Err(ErrorCode::EntityAlreadyExists), 3), "{lost:?}");
        // It is of this time, but other: ours that was changed, or another's.
        let (outcome, _) = one([lost.clone(), exists(), entity(NOW, 2)], insert()).await;
        assert_eq!(outcome, Err(ErrorCode::OperationTimedOut), "{lost:?}");
        // It is gone again.
        let (outcome, _) = one([lost.clone(), exists(), refusal(404, "ResourceNotFound")], insert()).await;
        assert_eq!(outcome, Err(ErrorCode::OperationTimedOut), "{lost:?}");
        // It cannot be read.
        let (outcome, _) =
            one([lost.clone(), exists(), refusal(403, "AuthorizationFailure")], insert()).await;
        assert_eq!(outcome, Err(ErrorCode::OperationTimedOut), "{lost:?}");
        // The first attempt was not applied: the second is.
        assert_eq!(one([lost, done()], insert()).await, (Ok(Some(now())), 2));
    }
}

#[tokio::test(start_paused = true)]
async fn con_11_without_doubt_nothing_is_read() {
    let replies = || [refusal(503, "ServerBusy"), refusal(409, "EntityAlreadyExists")];
    let outcome = one(replies(), OperationKind::Insert(row(1))).await;
    assert_eq!(outcome, (Err(ErrorCode::EntityAlreadyExists), 2));
    let outcome = one([refusal(409, "EntityAlreadyExists")], OperationKind::Insert(row(1))).await;
    assert_eq!(outcome, (Err(ErrorCode::EntityAlreadyExists), 1));
}

#[tokio::test(start_paused = true)]
async fn con_11_delete_then_404_is_ours() {
    let missing = || refusal(404, "ResourceNotFound");
    for condition in [IfMatch::Any, stale()] {
        let delete = || OperationKind::Delete(condition.clone());
        assert_eq!(one([Reply::Cut, missing()], delete()).await, (Ok(None), 2));
        assert_eq!(one([missing()], delete()).await, (Err(ErrorCode::ResourceNotFound), 1));
        let throttled = [refusal(503, "ServerBusy"), missing()];
        assert_eq!(one(throttled, delete()).await, (Err(ErrorCode::ResourceNotFound), 2));
        let table_gone = [Reply::Cut, refusal(404, "TableNotFound")];
        assert_eq!(one(table_gone, delete()).await, (Err(ErrorCode::TableNotFound), 2));
    }
    let changed = || refusal(412, "UpdateConditionNotSatisfied");
    let (outcome, _) = one([Reply::Cut, changed(), entity(BEFORE, 1)], OperationKind::Delete(stale())).await;
    assert_eq!(outcome, Err(ErrorCode::UpdateConditionNotSatisfied));
    let (outcome, _) = one([Reply::Cut, changed(), entity(NOW, 1)], OperationKind::Delete(stale())).await;
    assert_eq!(outcome, Err(ErrorCode::OperationTimedOut));
}

#[tokio::test(start_paused = true)]
async fn con_11_replace_and_merge_then_412_are_ours_where_the_entity_says_so() {
    let changed = || refusal(412, "UpdateConditionNotSatisfied");
    let kinds = [OperationKind::Replace(row(1), stale()), OperationKind::Merge(row(1), stale())];
    for kind in kinds {
        assert_eq!(one([Reply::Cut, changed(), entity(NOW, 1)], kind.clone()).await, (Ok(Some(now())), 3));
        let (outcome, _) = one([Reply::Cut, changed(), entity(BEFORE, 1)], kind.clone()).await;
        assert_eq!(outcome, Err(ErrorCode::UpdateConditionNotSatisfied));
        let (outcome, _) = one([Reply::Cut, changed(), entity(NOW, 2)], kind).await;
        assert_eq!(outcome, Err(ErrorCode::OperationTimedOut));
    }
    // A merge leaves what it does not name; a replace does not.
    let more = || {
        json(
            200,
            &format!(
                r#"{{"odata.etag":"W/\"datetime'2026-11-20T07%3A59%3A59.5Z'\"","PartitionKey":"p","RowKey":"r","Timestamp":"{NOW}","A":1,"B":2}}"#
            ),
        )
    };
    let merge = OperationKind::Merge(row(1), stale());
    assert_eq!(one([Reply::Cut, changed(), more()], merge).await, (Ok(Some(now())), 3));
    let replace = OperationKind::Replace(row(1), stale());
    assert_eq!(one([Reply::Cut, changed(), more()], replace).await.0, Err(ErrorCode::OperationTimedOut));
}

#[tokio::test(start_paused = true)]
async fn con_11_upserts_are_simply_sent_again() {
    for kind in [OperationKind::InsertOrReplace(row(1)), OperationKind::InsertOrMerge(row(1))] {
        assert_eq!(one([Reply::Cut, done()], kind).await, (Ok(Some(now())), 2));
    }
}

#[tokio::test(start_paused = true)]
async fn con_11_tables_too() {
    let server = Server::start([Reply::Cut, refusal(409, "TableAlreadyExists")]).await;
    server.client(Options::new()).create_table(&table()).await.unwrap();
    let server = Server::start([refusal(503, "ServerBusy"), refusal(409, "TableAlreadyExists")]).await;
    assert!(server.client(Options::new()).create_table(&table()).await.unwrap_err().is_already_exists());
    let server = Server::start([Reply::Cut, refusal(404, "ResourceNotFound")]).await;
    server.client(Options::new()).delete_table(&table()).await.unwrap();
    let server = Server::start([refusal(404, "ResourceNotFound")]).await;
    assert!(server.client(Options::new()).delete_table(&table()).await.unwrap_err().is_not_found());
}

fn batch_refusal(status: u16, code: &str, message: &str) -> Reply {
    let body = refusal_body(code, message);
    let body = format!(
        "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\n\
         HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n\r\n{body}\r\n--c--\r\n--b--\r\n"
    );
    answer(202, &["Content-Type: multipart/mixed; boundary=b"], &body)
}

#[tokio::test(start_paused = true)]
async fn con_11_and_egt_9_a_batch_is_ours_whole_or_not_at_all() {
    let exists = || batch_refusal(409, "EntityAlreadyExists", "0:It exists.");
    let gone = || refusal(404, "ResourceNotFound");
    let operations = || {
        [
            ("r", OperationKind::Insert(row(1))),
            ("s", OperationKind::Delete(IfMatch::Any)),
            ("t", OperationKind::InsertOrMerge(row(1))),
        ]
    };
    for (lost, read, expected) in [
        (Reply::Cut, vec![entity(NOW, 1), gone(), entity(NOW, 1)], Ok(vec![Some(now()), None, Some(now())])),
        (Reply::Cut, vec![entity(BEFORE, 1)], Err(ErrorCode::EntityAlreadyExists)),
        (Reply::Cut, vec![entity(NOW, 1), entity(BEFORE, 1)], Err(ErrorCode::EntityAlreadyExists)),
        (Reply::Cut, vec![entity(NOW, 1), gone(), entity(NOW, 2)], Err(ErrorCode::OperationTimedOut)),
        (refusal(503, "ServerBusy"), vec![], Err(ErrorCode::EntityAlreadyExists)),
    ] {
        let reads = read.len();
        let server = Server::start([lost, exists()].into_iter().chain(read)).await;
        let client = server.client(Options::new());
        let outcome = submit(&client, operations()).await;
        if let Err(error) = &outcome
            && error.code() == ErrorCode::EntityAlreadyExists
        {
            assert_eq!((error.operation(), error.key()), (Some(0), Some(("p", "r"))), "EGT-34");
        }
        assert_eq!(outcome.map_err(|error| error.code()), expected);
        assert_eq!(server.received().len(), 2 + reads);
    }
}

#[tokio::test(start_paused = true)]
async fn egt_38_a_batch_that_was_refused_whole_was_not_applied() {
    let operations = || [("r", OperationKind::Insert(row(1))), ("s", OperationKind::Insert(row(1)))];
    let server = Server::start([refusal(413, "RequestBodyTooLarge")]).await;
    let client = server.client(Options::new());
    let error = submit(&client, operations()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RequestBodyTooLarge);
    let server = Server::start(vec![Reply::Cut; 4]).await;
    let client = server.client(Options::new());
    assert!(submit(&client, operations()).await.unwrap_err().is_ambiguous());
}
