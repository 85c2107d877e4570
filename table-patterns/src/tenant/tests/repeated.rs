//! Tests that a push that failed or was dropped can be repeated, and that the store then has the same content as after an import without faults.

use std::collections::BTreeMap;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pollster::block_on;
use proptest::prelude::*;
use serde_json::{Value, json};
use table_core::ErrorCode;
use table_core::key::PartitionKey;
use table_core::name::TableName;

use super::assert_moved;
use super::kit::{Step, World, some_steps};
use crate::feed::FEEDS;
use crate::outbox::{OUTBOX_PREFIX, POISON_PREFIX, REGISTRY};
use crate::tenant::Import;
use crate::tests::faults;

/// The effect of a fault on a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// The request fails without effect.
    Fails,
    /// The request takes effect, but its response is lost.
    LosesResponse,
    /// The push is dropped while it waits for the request.
    Drops,
}

/// A fault in one request.
#[derive(Clone, Copy, Debug)]
struct Fault {
    /// `true` for a request to the blob store, `false` for one to the table store.
    is_of_blob: bool,
    effect: Effect,
    number: usize,
}

impl Fault {
    fn inject(self, world: &World) {
        let Self { is_of_blob, effect, number } = self;
        match (is_of_blob, effect) {
            (true, Effect::Drops) => world.blobs.wait_at(number),
            (true, _) => world.blobs.fail_at(number, effect == Effect::LosesResponse),
            (false, _) => world.store.script(move |_, at| match effect {
                _ if at != number => faults::Fault::None,
                Effect::Fails => faults::Fault::Before(ErrorCode::ServerBusy),
                Effect::LosesResponse => faults::Fault::After(ErrorCode::OperationTimedOut),
                Effect::Drops => faults::Fault::Later,
            }),
        }
    }

    /// Returns `true` if the request has been sent.
    fn is_over(self, world: &World) -> bool {
        let requests = if self.is_of_blob { world.blobs.calls() } else { world.store.calls().len() };
        requests > self.number
    }
}

fn effect() -> impl Strategy<Value = Effect> {
    prop::sample::select(vec![Effect::Fails, Effect::LosesResponse, Effect::Drops])
}

/// Returns a store in which `contoso` has three files, an active feed, and steps that no worker has performed.
fn source() -> World {
    let insert = |file| (true, Step::Insert { title: 1, topic: 1, agent: Some(2), file: Some(file) });
    let mut steps = some_steps();
    steps.extend([insert(300), insert(200)]);
    World::after(&steps)
}

/// Returns the lines of an export of `contoso`. Each blob has up to three parts.
fn lines_of(world: &World) -> Vec<String> {
    let tenant = world.tenant("contoso");
    let (mut export, mut lines) = (tenant.export().page(3), Vec::new());
    while let Some(step) = block_on(export.step()).unwrap() {
        lines.extend(step.lines().flat_map(parts_of));
    }
    lines
}

/// Divides a line with a blob into lines with parts of up to 100 bytes. Returns any other line unchanged.
fn parts_of(line: &str) -> Vec<String> {
    let mut value: Value = serde_json::from_str(line).unwrap();
    let Some(part) = value.get_mut("Blob") else { return vec![line.to_owned()] };
    let bytes = STANDARD.decode(part["Bytes"].as_str().unwrap()).unwrap();
    let pieces: Vec<_> = if bytes.is_empty() { vec![&bytes[..]] } else { bytes.chunks(100).collect() };
    let mut lines = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        part["Bytes"] = json!(STANDARD.encode(piece));
        (part["From"], part["Last"]) = (json!(at * 100), json!(at + 1 == pieces.len()));
        lines.push(json!({ "Blob": part }).to_string());
    }
    lines
}

fn is_part(line: &str) -> bool {
    line.starts_with("{\"Blob\"")
}

fn is_first_part(line: &str) -> bool {
    is_part(line) && line.contains("\"From\":0,")
}

/// The rows and blobs of a store. The seals and versions of recorded steps differ between imports, and so does the key of the seals.
type Content = (BTreeMap<(String, String, String), String>, BTreeMap<String, Vec<u8>>);

fn content(world: &World) -> Content {
    let mut rows = world.dump();
    rows.retain(|(table, partition_key, _), _| table != REGISTRY || partition_key != "keys");
    for ((_, _, row_key), row) in &mut rows {
        if row_key.starts_with(OUTBOX_PREFIX) {
            row.clear();
        }
    }
    let blobs = world.blobs.names().into_iter().map(|name| (name.clone(), world.blobs.content(&name)));
    (rows, blobs.collect())
}

/// Polls a push until it ends. If the push waits for the faulty request, drops it and returns `None`.
fn pushed(
    import: &mut Import<'_>,
    lines: &[String],
    is_over: impl Fn() -> bool,
) -> Option<crate::Result<()>> {
    let text = lines.join("\n");
    let mut push = pin!(import.push(&text));
    loop {
        match push.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(pushed) => return Some(pushed),
            Poll::Pending if is_over() => return None,
            Poll::Pending => {}
        }
    }
}

/// Imports lines in pushes that end before the lines `cuts`, and repeats a push that fails or is dropped. Returns the target, and `true` if a push was
/// repeated.
fn imported(lines: &[String], cuts: &[usize], fault: Option<Fault>) -> (World, bool) {
    let to = World::new();
    let tenant = to.tenant("contoso");
    let mut import = tenant.import();
    let mut has_repeated = false;
    if let Some(fault) = fault {
        fault.inject(&to);
    }
    let mut from = 0;
    for end in cuts.iter().copied().chain([lines.len()]).filter(|end| *end <= lines.len()) {
        let is_over = || !has_repeated && fault.is_some_and(|fault| fault.is_over(&to));
        let first = pushed(&mut import, &lines[from..end], is_over);
        if !matches!(first, Some(Ok(()))) {
            assert!(!has_repeated, "{first:?}");
            has_repeated = true;
            to.store.heal();
            to.blobs.heal();
            // The failed push may have stored rows, so the import is not complete.
            assert!(block_on(import.finish()).is_err());
            if let Err(error) = block_on(import.push(&lines[from..end].join("\n"))) {
                // The blob store has lost the earlier parts of the blob.
                assert!(fault.is_some_and(|fault| fault.is_of_blob), "{error}");
                assert_eq!(error.code(), ErrorCode::InvalidInput, "{error}");
                assert!(error.message().contains("from the first part of the blob"), "{error}");
                assert!(is_part(&lines[from]) && !is_first_part(&lines[from]));
                let first = (0..from).rev().find(|at| is_first_part(&lines[*at])).unwrap();
                block_on(import.push(&lines[first..end].join("\n"))).unwrap();
            }
        }
        from = end;
    }
    to.store.heal();
    to.blobs.heal();
    block_on(import.finish()).unwrap();
    (to, has_repeated)
}

/// Checks that followers find the feed of `contoso`, and that workers find and perform all steps.
fn assert_found(from: &World, to: &World) {
    let desk = TableName::new("Desk").unwrap();
    let followed = block_on(to.tickets.feed().partitions(&desk)).unwrap();
    assert_eq!(followed.iter().map(PartitionKey::as_str).collect::<Vec<_>>(), ["contoso"]);
    to.sweep();
    assert_moved(from, to, "contoso");
    let is_left =
        |row_key: &str| [OUTBOX_PREFIX, POISON_PREFIX].iter().any(|prefix| row_key.starts_with(prefix));
    let left: Vec<_> = to.dump().into_keys().filter(|(_, _, row_key)| is_left(row_key)).collect();
    assert_eq!(left, []);
}

/// Returns the cuts after each part of a blob that is not its last part, so that the next push contains the end of the blob and the lines that follow.
fn within_blobs(lines: &[String]) -> Vec<usize> {
    let is_cut = |at: &usize| is_part(&lines[*at - 1]) && lines[*at - 1].contains("\"Last\":false");
    (1..lines.len()).filter(is_cut).collect()
}

/// Tests each request of the pushes with the given cuts, with each effect. Returns the number of requests. `expected` is the content after an import without
/// a fault.
fn each_request(lines: &[String], cuts: &[usize], is_of_blob: bool, expected: &Content) -> usize {
    let mut requests = 0;
    for effect in [Effect::Fails, Effect::LosesResponse, Effect::Drops] {
        for number in 0.. {
            let (to, has_repeated) = imported(lines, cuts, Some(Fault { is_of_blob, effect, number }));
            if !has_repeated {
                requests = number;
                break;
            }
            assert_eq!(content(&to), *expected, "{effect:?} of request {number}");
        }
    }
    requests
}

/// Returns the lines of an export, and the content of the target after their import in one push.
fn exported() -> (Vec<String>, Content) {
    let from = source();
    let lines = lines_of(&from);
    let (to, _) = imported(&lines, &[], None);
    let expected = content(&to);
    let count = |name: &str| expected.0.keys().filter(|(table, _, _)| table == name).count();
    assert_eq!((count(FEEDS), count(REGISTRY), expected.1.len()), (1, 1, 3));
    assert_found(&from, &to);
    (lines, expected)
}

#[test]
fn a_push_can_be_repeated_after_a_failure_of_any_request() {
    let (lines, expected) = exported();
    for cuts in [vec![], within_blobs(&lines)] {
        let requests = each_request(&lines, &cuts, false, &expected);
        assert!(requests > 20, "{requests} requests");
    }
}

#[test]
fn a_push_can_be_repeated_after_a_failure_of_any_request_to_the_blob_store() {
    let (lines, expected) = exported();
    for cuts in [vec![], within_blobs(&lines)] {
        let requests = each_request(&lines, &cuts, true, &expected);
        assert!(requests >= 3, "{requests} requests");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pushes_with_any_lines_can_be_repeated(
        cuts in prop::collection::btree_set(1_usize..60, 0..8),
        is_of_blob in any::<bool>(),
        effect in effect(),
        number in 0_usize..60,
    ) {
        let from = source();
        let lines = lines_of(&from);
        let cuts: Vec<_> = cuts.into_iter().filter(|cut| *cut < lines.len()).collect();
        let (expected, _) = imported(&lines, &[], None);
        let number = if is_of_blob { number % 8 } else { number };
        let (to, _) = imported(&lines, &cuts, Some(Fault { is_of_blob, effect, number }));
        prop_assert_eq!(content(&to), content(&expected));
        assert_found(&from, &to);
    }
}
