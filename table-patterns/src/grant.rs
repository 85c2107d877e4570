//! Grants. The bearer of a SAS for one partition needs some information for its writes but cannot read it. A grant, created by a more privileged program,
//! contains this information.
//!
//! # Context
//! Index states are stored with the schema, and partitions with a feed or an outbox are listed in registries. These rows are in other tables, to which a SAS
//! for one partition gives no access. A more privileged program creates a [`PartitionGrant`] and passes it to the bearer, together with the SAS.
//!
//! # Guarantee
//! - [`Entities::grant`] registers the partition permanently. Followers then read its feed and sweeps read its outbox, no matter who writes to it. Until the
//!   grant expires, every sweep reads the outbox. Afterwards, a sweep that finds no steps marks the partition as quiet, and later sweeps read only a random
//!   sample of the quiet partitions.
//! - A backfill of an index, of copies or of a feed begins only an hour after the last grant to a program with a different schema has expired. It therefore
//!   finds the entities that the bearer has written without the new index, copies or feed. The service checks the expiry of the SAS; the bearer's clock does
//!   not matter.
//! - A handle accepts only a grant for its own table and schema.
//!
//! # Key layout
//! Each schema of the entity type has a row in [`LAYOUTS`](table_core::table::LAYOUTS). The row contains the expiry of the schema's last grant. A later expiry
//! replaces an earlier one.
//!
//! # Cost
//! Creating a grant takes about ten requests. The bearer's handle sends no requests to other tables, except for one attempt to read the key of its outbox.
//!
//! # Bounds
//! - If an index must be rebuilt after a grant was issued, the bearer still reads it, like other handles that have already read its state.
//! - A bearer does not notice if the schema is replaced by an incompatible one, or if the table is deleted and recreated. Before such a change, let all SAS
//!   tokens expire.
//! - [`assume_no_older_programs`](crate::index::Backfill::assume_no_older_programs) ignores grants.
//! - If the program itself adds steps for other partitions, they need the outbox's sealing key. The bearer cannot read this key, so workers set the steps
//!   aside. Index entries and copies in other partitions need no key. If the bearer may not write to the queue, the next sweep finds the steps.
//! - Each sweep sends one query for every partition with a current grant.
//! - Erasing a [tenant](crate::tenant) ends these queries for the tenant's partitions. Issue another grant when the tenant returns.
//!
//! # When not to
//! A program with an account SAS or an identity can open its tables itself. It needs no grant.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use table_core::entity::Entity;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::schema::StoredSchema;
use table_core::store::TableStore;
use table_core::{Error, Fault, Result, ticks};

use crate::entities::{Entities, StepRecorder};
use crate::index::{IndexState, Indexes, States};
use crate::outbox::registry;

/// An error from creating or using a grant.
#[derive(Debug, thiserror::Error, Fault)]
#[fault(InvalidInput)]
enum GrantFault {
    #[error(
        "the grant is for table `{granted}`, the handle for `{own}`; request a grant for the table of the handle"
    )]
    OtherTable { granted: String, own: TableName },
    #[error(
        "the grant is for another schema of `{0}`; request it from a program of the same release as this one"
    )]
    OtherSchema(&'static str),
    #[error("the expiry is outside the range of the store's instants; use the expiry of the signature")]
    Expiry,
    #[error("invalid grant; pass the text that `PartitionGrant` was formatted as")]
    Text(#[source] serde_json::Error),
}

/// A grant for the bearer of a SAS for one partition. With it, the bearer can write entities together with their derived rows. [The module](self) describes its
/// guarantees.
///
/// The string representation (`Display`, [`FromStr`]) is JSON. It contains no secret.
///
/// ```
/// use table_patterns::{Engine, Entity, EntityStore, PartitionKey, ticks};
/// use table_patterns::grant::PartitionGrant;
///
/// #[derive(Entity, Clone, Debug, PartialEq)]
/// #[entity(table = "Desk", feed)]
/// #[partition_key(tenant)]
/// #[row_key("ticket_", number)]
/// #[index(ByMail, unique, row_key("mail_", mail))]
/// struct Ticket { tenant: String, #[digits(6)] number: u32, mail: String }
///
/// # pollster::block_on(async {
/// # let store = Engine::in_memory();
/// let tickets = store.entities::<Ticket>().create_if_missing().await?;
/// let expiry = ticks::now() + std::time::Duration::from_secs(3600); // that of the signature
/// let text = tickets.grant(&PartitionKey::new("contoso")?, expiry).await?.to_string();
///
/// // The bearer, whose store has only the signature.
/// let grant: PartitionGrant = text.parse()?;
/// let tickets = store.entities::<Ticket>().with_grant(&grant)?; // not opened
/// tickets.insert(&Ticket { tenant: "contoso".into(), number: 1, mail: "ada".into() }).await?;
/// assert!(tickets.get(Ticket::by_mail("contoso", "ada")).await?.is_some());
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionGrant {
    table: String,
    partition_key: String,
    /// The fingerprint of the entity type's schema.
    schema: String,
    /// The names of the ready indexes.
    ready: Vec<String>,
}

impl fmt::Display for PartitionGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for PartitionGrant {
    type Err = Error;

    /// # Errors
    /// `InvalidInput` if the text is not a grant.
    fn from_str(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|source| Error::of(GrantFault::Text(source)))
    }
}

impl<E: Entity, S: TableStore + Clone + 'static, O: StepRecorder> Entities<E, S, O> {
    /// Creates a grant for the bearer of a SAS for one partition. `expiry` must not be earlier than the expiry of the SAS. The partition is registered, so
    /// followers read its feed and sweeps read its outbox.
    ///
    /// Backfills of later releases wait until an hour after the grant has expired.
    ///
    /// # Errors
    /// - `InvalidInput` if a Timestamp cannot represent the expiry.
    /// - `SchemaMismatch` if the stored schema does not allow programs with this schema to write.
    /// - Any error from opening the table or from the store.
    pub async fn grant(&self, partition_key: &PartitionKey, expiry: DateTime<Utc>) -> Result<PartitionGrant> {
        let expiry = ticks::from_datetime(expiry).ok_or_else(|| Error::of(GrantFault::Expiry))?;
        let handle = self.clone().create_if_missing().await?;
        let table = handle.table.name()?;
        handle.table.record_grant(expiry).await?;
        // IMPORTANT: the states are read after the grant has been recorded. An index that becomes ready later therefore contains all of the bearer's entities.
        let states = handle.states().await?;
        if handle.records_parts() {
            handle.feed().keep_listed(table, partition_key).await?;
        }
        handle.outbox.prepare(table, partition_key).await?;
        if O::RECORDS {
            // IMPORTANT: this also renews the registration. After this process cached it, an erasure of the tenant may have marked it as erased. The bearer
            // cannot remove such a mark.
            registry::kept::keep((handle.table.store(), &handle.retry), table, partition_key, expiry).await?;
        }
        let ready = states.into_iter().filter(|(_, state)| *state == IndexState::Ready);
        Ok(PartitionGrant {
            table: table.as_str().to_owned(),
            partition_key: partition_key.as_str().to_owned(),
            schema: schema_of::<E>(table),
            ready: ready.map(|(name, _)| name.to_owned()).collect(),
        })
    }

    /// Uses a grant in place of the index states and the registries, which the bearer of a SAS for one partition cannot read. Does not open the table.
    ///
    /// The bearer records changes without a seal. If its release writes intents in a newer format, workers of an older release set its changes aside as poison.
    ///
    /// # Errors
    /// `InvalidInput` if the grant is for a different table or for a different schema of the entity type.
    pub fn with_grant(self, grant: &PartitionGrant) -> Result<Self> {
        let table = self.table.name()?;
        if !table.as_str().eq_ignore_ascii_case(&grant.table) {
            let (granted, own) = (grant.table.clone(), table.clone());
            return Err(Error::of(GrantFault::OtherTable { granted, own }));
        }
        if schema_of::<E>(table) != grant.schema {
            return Err(Error::of(GrantFault::OtherSchema(E::SCHEMA.entity)).with_table(table.as_str()));
        }
        self.outbox.assume_registered(table, &PartitionKey::new(grant.partition_key.as_str())?);
        let states = States::of_ready::<E>(|name| grant.ready.iter().any(|ready| ready == name));
        let blobs = self.list_blobs().cloned();
        Ok(self.with_contributor(Indexes { states: Arc::new(states), blobs }))
    }
}

/// Returns the fingerprint of an entity type's schema in a table.
fn schema_of<E: Entity>(table: &TableName) -> String {
    StoredSchema::of(E::SCHEMA).in_table(table.as_str()).fingerprint().to_string()
}
