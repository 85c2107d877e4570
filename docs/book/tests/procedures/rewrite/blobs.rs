//! Tests the procedure for rewriting the rows of an entity that has a blob.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use table_patterns::blob::object_store::ObjectStore as _;
use table_patterns::blob::object_store::memory::InMemory;
use table_patterns::large::{Large, LargeTable, whole};
use table_patterns::{Engine, EntityStore as _, ErrorCode, Result, TableStoreExt as _};

use crate::page::Procedure;
use crate::time::Time;

mod released {
    use table_patterns::large::{BlobRef, Large};

    #[derive(table_patterns::Entity, Large, Clone, Debug, PartialEq)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        #[blob]
        pub photo: Option<BlobRef>,
    }
}

/// The declarations used by the program that rewrites the rows.
mod rewriting {
    use table_patterns::large::{BlobRef, Large};

    #[derive(table_patterns::Entity, Large, Clone, Debug, PartialEq)]
    #[entity(table = "Company", set = Rewrite)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct OldEmployee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        #[blob]
        pub photo: Option<BlobRef>,
    }

    #[derive(table_patterns::Entity, Large, Clone, Debug, PartialEq)]
    #[entity(table = "Company", set = Rewrite)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(8)]
        pub id: u32,
        #[blob]
        pub photo: Option<BlobRef>,
    }

    #[derive(table_patterns::EntitySet)]
    pub(super) enum Rewrite {
        Old(OldEmployee),
        New(Employee),
        #[other]
        Other(table_patterns::TableEntity),
    }
}

mod next {
    use table_patterns::large::{BlobRef, Large};

    #[derive(table_patterns::Entity, Large, Clone, Debug, PartialEq)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(8)]
        pub id: u32,
        #[blob]
        pub photo: Option<BlobRef>,
    }
}

const EMPLOYEES: u32 = 40;
const DEPARTMENTS: u32 = 7;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn department(id: u32) -> String {
    format!("department {}", id % DEPARTMENTS)
}

/// A table and the store that contains the photos of its employees.
struct Company {
    time: Time,
    store: Engine,
    blobs: Arc<InMemory>,
}

impl Company {
    async fn with_photos() -> Result<Self> {
        let time = Time::new();
        let company = Self { store: time.engine(), blobs: Arc::new(InMemory::new()), time };
        company.store.table::<released::Employee>().create_if_missing().await?;
        let employees = company.large::<released::Employee>();
        for id in 0..EMPLOYEES {
            let photo = released::Employee::PHOTO_BLOB.content(whole(id.to_be_bytes().to_vec()));
            let employee = released::Employee { department: department(id), id, photo: None };
            employees.insert(employee, [photo]).await?;
        }
        Ok(company)
    }

    fn large<E: Large + Send + Sync>(&self) -> LargeTable<E, Engine> {
        let blobs = Arc::clone(&self.blobs) as Arc<_>;
        LargeTable::new(self.store.entities::<E>(), blobs, "staff")
            .with_clock(self.time.ahead(Duration::ZERO))
    }

    /// Runs the collector daily, until it has removed every blob that no entity references.
    async fn collect(&self) -> Result<()> {
        let employees = self.large::<next::Employee>();
        for _ in 0..4 {
            self.time.pass(DAY + Duration::from_secs(60));
            employees.collect_orphans().await?;
        }
        Ok(())
    }

    /// Returns the number of stored photos.
    async fn stored(&self) -> Result<usize> {
        let photos = self.blobs.list(Some(&"staff/blobs".into())).try_collect::<Vec<_>>().await;
        // A store in memory does not fail.
        Ok(photos.unwrap_or_default().len())
    }

    /// Returns the number of employees whose photo can be opened.
    async fn photos(&self) -> Result<u32> {
        let (employees, mut found) = (self.large::<next::Employee>(), 0);
        for id in 0..EMPLOYEES {
            let key = next::Employee::key(department(id), id);
            let employee = employees.entities().get(key).await?.unwrap();
            match employees.open(&employee, next::Employee::PHOTO_BLOB).await {
                Err(error) if error.code() == ErrorCode::EntityMismatch => {}
                photo => {
                    assert_eq!(&photo?.unwrap().bytes().await?[..], &id.to_be_bytes());
                    found += 1;
                }
            }
        }
        Ok(found)
    }
}

/// Rewrites at most `most` employees with their photos. If `is_stopped`, stops before it deletes the last of the old rows.
async fn rewrite(company: &Company, most: usize, is_stopped: bool) -> Result<()> {
    let old = company.large::<rewriting::OldEmployee>();
    let new = company.large::<rewriting::Employee>();
    let (mut rows, mut count) = (pin!(old.entities().scan("8 digits").max_rows(100_000).stream()), 0);
    while count < most
        && let Some(row) = rows.try_next().await?
    {
        let photo = old.open(&row, rewriting::OldEmployee::PHOTO_BLOB).await?.unwrap();
        let content = rewriting::Employee::PHOTO_BLOB.content(photo.into_stream());
        let (department, id) = (row.department.clone(), row.id);
        match new.insert(rewriting::Employee { department, id, photo: None }, [content]).await {
            // An earlier run was stopped before it deleted the old row.
            Err(error) if error.code() == ErrorCode::EntityAlreadyExists => {}
            outcome => drop(outcome?),
        }
        count += 1;
        if count < most || !is_stopped {
            let key = rewriting::OldEmployee::key(&row.department, row.id);
            old.entities().delete(key, row.etag()).await?;
        }
    }
    Ok(())
}

#[pollster::test]
async fn employees_with_a_photo_are_rewritten_and_keep_it() -> Result<()> {
    let mut page = Procedure::of("schema-evolution.md", "A rewrite");
    let company = Company::with_photos().await?;

    page.step("Instead of the transaction, open each blob with a `LargeTable` of the old type, insert the new entity and the content with a `LargeTable` of the new type, and then delete the old row.");
    page.step("If the insert fails with `EntityAlreadyExists`, an earlier run was stopped before it deleted the old row: delete it.");
    rewrite(&company, 15, true).await?;
    rewrite(&company, usize::MAX, false).await?;
    company.store.table::<rewriting::Employee>().accept_schema("employees rewritten with 8 digits").await?;
    let next = company.store.table::<next::Employee>().create_if_missing().await?;
    let found = next.scan("all employees").max_rows(100_000).collect().await?;
    assert_eq!(found.len(), usize::try_from(EMPLOYEES).unwrap());
    company.collect().await?;
    assert_eq!(company.photos().await?, EMPLOYEES);
    Ok(())
}

/// Writes each old row as the new type, with the address of its old blob.
async fn copy_addresses(company: &Company) -> Result<()> {
    let old = company.store.table::<rewriting::OldEmployee>();
    let new = company.store.table::<rewriting::Employee>();
    let mut rows = pin!(old.scan("8 digits").max_rows(100_000).stream());
    while let Some(row) = rows.try_next().await? {
        let key = rewriting::OldEmployee::key(&row.department, row.id);
        let etag = row.etag().clone();
        let rewriting::OldEmployee { department, id, photo } = row.into_value();
        let mut transaction = new.transaction(rewriting::Employee::partition(&department))?;
        transaction.insert(&rewriting::Employee { department, id, photo })?.delete(key, etag)?;
        transaction.commit().await?;
    }
    Ok(())
}

#[pollster::test]
async fn rows_with_the_address_of_the_blob_of_another_key_lose_it_to_the_collector() -> Result<()> {
    let mut page = Procedure::of("schema-evolution.md", "A rewrite");
    let company = Company::with_photos().await?;
    page.step("do not copy their addresses: a blob belongs to the key under which it was uploaded, and `collect_orphans` removes it once the old row is gone.");
    copy_addresses(&company).await?;
    // The handle does not open the blob of another key, whether or not that blob still exists.
    assert_eq!((company.photos().await?, company.stored().await?), (0, usize::try_from(EMPLOYEES).unwrap()));
    company.collect().await?;
    assert_eq!((company.photos().await?, company.stored().await?), (0, 0));
    Ok(())
}
