//! Tests that a copy of a tenant and its original share no blob. Erasing one of them therefore leaves the other complete.

use std::sync::Arc;

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::prefix::PrefixStore;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{Entity, ErrorCode, Result};

use super::kit::{export, import};
use crate::EntityStore;
use crate::blob::BlobRef;
use crate::large::{Large, LargeTable, whole};
use crate::tenant::Tenant;

#[derive(Entity, Large, Clone, Debug, PartialEq)]
#[entity(table = "Photos")]
#[partition_key(tenant)]
#[row_key(number)]
struct Photo {
    tenant: String,
    #[digits(4)]
    number: u32,
    #[blob]
    content: Option<BlobRef>,
}

const PHOTOS: u32 = 3;

struct World {
    photos: LargeTable<Photo, Engine>,
}

impl World {
    fn new(blobs: Arc<dyn ObjectStore>) -> Self {
        let photos = block_on(Engine::in_memory().entities::<Photo>().create_if_missing()).unwrap();
        Self { photos: LargeTable::new(photos, blobs, "photos") }
    }

    fn tenant(&self, name: &str) -> Tenant {
        let tenant = Tenant::new().with_entities(self.photos.entities(), Photo::partition(name)).unwrap();
        tenant.with_blobs(&self.photos).unwrap()
    }

    fn insert(&self, tenant: &str, numbers: std::ops::Range<u32>) {
        for number in numbers {
            let photo = Photo { tenant: tenant.into(), number, content: None };
            let content = Photo::CONTENT_BLOB.content(whole(format!("photo {number}")));
            block_on(self.photos.insert(photo, [content])).unwrap();
        }
    }

    /// Reads the content of all photos of a tenant.
    fn opened(&self, tenant: &str) -> Result<Vec<Bytes>> {
        block_on(async {
            let mut found = Vec::new();
            for photo in self.photos.table().query(Photo::partition(tenant)).collect().await? {
                let content = self.photos.open(&photo, Photo::CONTENT_BLOB).await?;
                found.push(content.expect("each photo has content").bytes().await?);
            }
            Ok(found)
        })
    }

    fn assert_complete(&self, tenant: &str) {
        let expected: Vec<Bytes> = (0..PHOTOS).map(|number| format!("photo {number}").into()).collect();
        assert_eq!(self.opened(tenant).unwrap(), expected);
    }
}

/// Creates two table stores. Their blobs are in the same folder of the same blob store, or in folders of different blob stores.
fn worlds(is_same_folder: bool) -> (World, World) {
    let blobs: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let other: Arc<dyn ObjectStore> = if is_same_folder {
        Arc::new(PrefixStore::new(Arc::clone(&blobs), ""))
    } else {
        Arc::new(PrefixStore::new(Arc::clone(&blobs), "copy"))
    };
    (World::new(blobs), World::new(other))
}

#[test]
fn erasing_a_copy_or_its_original_leaves_the_blobs_of_the_other() {
    for (is_same_folder, target_name, erases_source) in [true, false]
        .into_iter()
        .flat_map(|same| ["contoso", "adatum"].map(|name| (same, name)))
        .flat_map(|(same, name)| [true, false].map(|erases| (same, name, erases)))
    {
        let (from, to) = worlds(is_same_folder);
        from.insert("contoso", 0..PHOTOS);
        let (source, target) = (from.tenant("contoso"), to.tenant(target_name));
        let lines = export(&source);
        for copied in [block_on(source.copy_to(&target)).map(drop), import(&target, &lines).map(drop)] {
            match copied {
                Err(error) => assert_eq!(error.code(), ErrorCode::EntityAlreadyExists, "{error}"),
                Ok(()) => assert!(!is_same_folder || target_name == "adatum", "the blobs are shared"),
            }
        }
        let is_copied = block_on(target.count()).unwrap().rows() > 0;
        assert_eq!(is_copied, !is_same_folder || target_name == "adatum");
        if is_copied {
            to.assert_complete(target_name);
            block_on(if erases_source { source.erase() } else { target.erase() }).unwrap();
            let (left, name) = if erases_source { (&to, target_name) } else { (&from, "contoso") };
            left.assert_complete(name);
        }
    }
}

#[test]
fn erasing_the_target_of_an_interrupted_import_leaves_the_blobs_of_the_source() {
    for is_same_folder in [true, false] {
        let (from, to) = worlds(is_same_folder);
        from.insert("contoso", 0..PHOTOS);
        let (source, target) = (from.tenant("contoso"), to.tenant("contoso"));
        let lines = export(&source);
        for count in 1..=lines.lines().count() {
            let some: Vec<&str> = lines.lines().take(count).collect();
            if block_on(target.import().push(&some.join("\n"))).is_ok() {
                block_on(target.erase()).unwrap();
            }
            from.assert_complete("contoso");
        }
    }
}

/// Tests a tenant without blobs at the time of the copy. Blobs uploaded later would be in the folder deleted by an erasure of the source.
#[test]
fn a_tenant_without_blobs_is_not_copied_to_a_store_with_the_same_folder() {
    let blobs: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let (from, to) = (World::new(Arc::clone(&blobs)), World::new(blobs));
    let photo = Photo { tenant: "contoso".into(), number: 1, content: None };
    block_on(from.photos.insert(photo, [])).unwrap();
    if block_on(from.tenant("contoso").copy_to(&to.tenant("contoso"))).is_ok() {
        to.insert("contoso", 0..1);
        block_on(from.tenant("contoso").erase()).unwrap();
        to.opened("contoso").unwrap();
        panic!("the copy has the folder of its source");
    }
    block_on(from.tenant("contoso").copy_to(&to.tenant("adatum"))).unwrap();
}
