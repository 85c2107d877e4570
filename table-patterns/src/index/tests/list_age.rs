//! Tests that writers do not refer to list blobs that are too old. A collector may delete an unreferenced blob after the grace period.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pollster::block_on;
use table_core::Result;
use table_core::query::TextRange;

use super::people::{Scene, jones, person, scene, settle_all};

/// Half of the grace period, and a longer time, in ticks.
const HALF: u64 = 18_000_000_000;
const LONGER: u64 = 24_000_000_000;

/// A function that writes one list.
#[derive(Clone, Copy, Debug)]
enum Writer {
    Insert,
    Settle,
    Removal,
}

impl Writer {
    /// Creates two entities with their lists, and a change to settle if this writer needs one.
    async fn scene(self) -> Result<Scene> {
        let scene = scene(0).await?;
        scene.people.insert(&jones(1)).await?;
        scene.people.insert(&person("Marketing", 2, "Jones")).await?;
        settle_all(&scene.people).await?;
        match self {
            Self::Insert | Self::Removal => {}
            Self::Settle => drop(scene.people.insert(&jones(3)).await?),
        }
        Ok(scene)
    }

    async fn write(self, scene: &Scene) -> Result<()> {
        let people = &scene.people;
        match self {
            Self::Insert => people.insert(&jones(4)).await.map(drop),
            Self::Settle => settle_all(people).await,
            Self::Removal => people.remove_entries_of(&[TextRange::exactly("Marketing")]).await.map(drop),
        }
    }
}

/// Tests writers that are delayed before each of their requests to the blob store in turn.
#[test]
fn no_writer_refers_to_a_blob_older_than_half_the_grace_period() {
    for writer in [Writer::Insert, Writer::Settle, Writer::Removal] {
        for number in 0.. {
            let (is_over, has_failed) = block_on(async {
                let scene = writer.scene().await?;
                let before: BTreeSet<_> = scene.named().await?.into_iter().collect();
                let is_delayed = Arc::<AtomicBool>::default();
                let (now, mark) = (Arc::clone(&scene.now), Arc::clone(&is_delayed));
                scene.blobs.before(number, move |_| {
                    now.fetch_add(LONGER, Ordering::SeqCst);
                    mark.store(true, Ordering::SeqCst);
                });
                let written = writer.write(&scene).await;
                let now = scene.now.load(Ordering::SeqCst);
                for name in scene.named().await?.into_iter().filter(|name| !before.contains(name)) {
                    let born = name.rsplit('/').next().and_then(|name| name.split('_').next());
                    let born: u64 = born.unwrap().parse().unwrap();
                    assert!(now - born <= HALF, "{writer:?}, request {number}: {name}");
                }
                Ok::<_, table_core::Error>((!is_delayed.load(Ordering::SeqCst), written.is_err()))
            })
            .unwrap();
            if is_over {
                assert!(number > 1 && !has_failed, "{writer:?}: {number} requests");
                break;
            }
        }
    }
}
