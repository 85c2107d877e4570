//! Creates and finds the containers that store tables, and compares them with the options. A table name matches a container regardless of case.

mod current;
mod description;
mod difference;
mod fault;
mod listing;
mod policy;

use std::borrow::Cow;
use std::sync::Arc;

use azure_data_cosmos::CosmosError;
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::models::{
    ContainerProperties, PartitionKeyDefinition, PartitionKeyKind, PartitionKeyVersion, ResourceResponse,
    ThroughputProperties,
};
use azure_data_cosmos::options::CreateContainerOptions;
use table_core::{Error, Result, TableName};

use crate::client::CosmosTables;
use crate::containers::Container;
use crate::expiry::TimeToLive;
use crate::failure::Verdict;
use crate::mapping::{Mapping, Path};
use crate::options::Options;
use crate::throughput::Throughput;
use crate::unique::UniqueKeys;
use crate::{failure, item, key, usage};
pub use difference::Difference;
use fault::ContainerFault;

/// Returns the partition key definition of a new container.
fn definition(mapping: &Mapping) -> PartitionKeyDefinition {
    PartitionKeyDefinition::new(mapping.levels.iter().map(|path| Cow::Owned(path.to_string())).collect())
}

/// Returns the properties of a new container.
pub(crate) fn properties(table: &TableName, options: &Options) -> ContainerProperties {
    let mapping = options.mapping_in(table.as_str());
    let mut properties = ContainerProperties::new(table.as_str().to_owned(), definition(&mapping))
        .with_indexing_policy(policy::new(&mapping));
    properties.default_ttl = options.time_to_live_in(table.as_str()).into();
    properties
}

/// Checks that a container matches its table's mapping and expiry options.
///
/// # Errors
/// - `SchemaMismatch` if the levels or the hash function differ.
/// - `SchemaMismatch` if items can expire although the options do not allow this (HPK-43).
fn compare(
    table: &TableName,
    options: &Options,
    mapping: &Mapping,
    found: &ContainerProperties,
) -> Result<()> {
    let (depth, expected) = (mapping.depth(), definition(mapping));
    let key = &found.partition_key;
    let refuse = |fault| Err(Error::of(fault).with_table(table.as_str()));
    let paths = |definition: &PartitionKeyDefinition| definition.paths().join(", ");
    if !has_levels(key, mapping) {
        return refuse(ContainerFault::Paths { found: paths(key), expected: paths(&expected) });
    }
    // A key with several levels has the kind `MultiHash`, and a key with one level has the kind `Hash`. Both use version 2 (EPK-9).
    let kind = if depth == 1 { PartitionKeyKind::Hash } else { PartitionKeyKind::MultiHash };
    if key.kind() != kind || key.version() != PartitionKeyVersion::V2 {
        return refuse(ContainerFault::Hash { kind: key.kind(), version: key.version(), expected: kind });
    }
    if !found.default_ttl.is_forever() && options.time_to_live_in(table.as_str()) == TimeToLive::Off {
        return refuse(ContainerFault::TimeToLive);
    }
    Ok(())
}

/// Returns `true` if a container's partition key paths match the levels of a mapping.
fn has_levels(key: &PartitionKeyDefinition, mapping: &Mapping) -> bool {
    // The same path can be quoted in different ways.
    let is_same = |found: &str, path: &Path| Path::parse(found).is_some_and(|found| found.is_same(path));
    key.paths().len() == mapping.depth()
        && key.paths().iter().zip(&mapping.levels).all(|(found, path)| is_same(found, path))
}

/// Returns a table's mapping, given the properties of its container.
fn mapping_of(table: &TableName, options: &Options, found: &ContainerProperties) -> Arc<Mapping> {
    let levels = found.partition_key.paths().len();
    let is_standard = has_levels(&found.partition_key, &Mapping::standard(levels));
    options.mapping_for(table.as_str(), is_standard.then_some(levels))
}

/// Returns those differences between a container and the options that do not prevent the use of the container.
fn differences(table: &TableName, options: &Options, found: &ContainerProperties) -> Vec<Difference> {
    let asked = options.time_to_live_in(table.as_str());
    let is = TimeToLive::of(&found.default_ttl);
    let expiry = (asked != is).then_some(Difference::TimeToLive { asked, found: is });
    let mapping = mapping_of(table, options, found);
    let unique = UniqueKeys::of(found).into_paths().into_iter().map(|paths| Difference::UniqueKey { paths });
    policy::differences(found, &mapping).into_iter().chain(expiry).chain(unique).collect()
}

/// Returns a number that identifies the container, derived from its resource id. Returns `None` if the resource id is missing or invalid.
fn incarnation_of(found: &ContainerProperties) -> Option<u32> {
    found.system_properties.resource_id.as_deref().and_then(item::incarnation_of)
}

/// Checks that the response to a container's creation or deletion came from the service. If not, returns an ambiguous error.
fn acknowledged<T>(answer: &ResourceResponse<T>, table: &TableName) -> Result<()> {
    if answer.headers().activity_id().is_some() {
        return Ok(());
    }
    Err(failure::not_from_service("list the tables").into_ambiguous().with_table(table.as_str()))
}

impl CosmosTables {
    /// Opens the container of a table.
    ///
    /// # Errors
    /// - `TableNotFound` if the container does not exist.
    /// - `SchemaMismatch` if the levels or the hash function differ.
    /// - `SchemaMismatch` if items can expire although the options do not allow this (HPK-43).
    pub(crate) async fn container(&self, table: &TableName) -> Result<Container> {
        if let Some(container) = self.containers().get(table) {
            if container.is_current().await {
                usage::opened(&container);
                return Ok(container);
            }
            self.containers().forget(table);
        }
        Ok(self.open_container(table).await?.0)
    }

    /// Opens the container that currently stores a table. Returns the container and its properties.
    async fn open_container(&self, table: &TableName) -> Result<(Container, ContainerProperties)> {
        let name = match self.properties(table.as_str()).await {
            Ok(found) => Some(found),
            Err(error) if failure::is_missing(&error) => self.in_another_case(table).await?,
            Err(error) => return Err(failure::error("open the container", error)),
        };
        let Some((client, properties)) = name else {
            return Err(self.missing(ContainerFault::NoTable, table).await);
        };
        let options = self.options();
        let mapping = mapping_of(table, options, &properties);
        compare(table, options, &mapping, &properties)?;
        let client = self.current(client, &properties.id, mapping.depth()).await?;
        let incarnation = incarnation_of(&properties);
        let unique_keys = Arc::new(UniqueKeys::of(&properties));
        let container = Container { client, incarnation, mapping, unique_keys };
        // A token does not permit reading the throughput. In that case, the throughput is not compared.
        let throughput = self.compared_throughput(&container).await.unwrap_or_default();
        for difference in differences(table, options, &properties).into_iter().chain(throughput) {
            tracing::warn!(target: "table_cosmos", table = table.as_str(), %difference);
        }
        self.containers().put(table, container.clone());
        usage::opened(&container);
        Ok((container, properties))
    }

    async fn properties(&self, name: &str) -> Result<(ContainerClient, ContainerProperties), CosmosError> {
        let client = self.database().container_client(name.to_owned(), None).await?;
        let properties = client.read(None).await?.into_model()?;
        Ok((client, properties))
    }

    /// Returns the error for a missing database if the database does not exist. Otherwise, returns `fault`, the error for a missing container.
    async fn missing(&self, fault: ContainerFault, table: &TableName) -> Error {
        let error = if self.is_database_missing().await { self.no_database() } else { Error::of(fault) };
        error.with_table(table.as_str())
    }

    /// Returns `true` if the database does not exist. Returns `false` if the credential does not permit reading the database.
    pub(crate) async fn is_database_missing(&self) -> bool {
        matches!(Box::pin(self.database().read(None)).await, Err(error) if failure::is_missing(&error))
    }

    pub(crate) fn no_database(&self) -> Error {
        Error::of(ContainerFault::NoDatabase(self.database_name().to_owned()))
    }

    /// Returns the container whose name matches the table's name except for case (TBL-2).
    ///
    /// # Errors
    /// - `SchemaMismatch` if several container names match the table's name except for case.
    /// - Any error from listing the containers, such as `ServerBusy`. It cannot be ignored, because a container with a matching name may exist.
    async fn in_another_case(
        &self,
        table: &TableName,
    ) -> Result<Option<(ContainerClient, ContainerProperties)>> {
        let names = self.permitted_names().await.map_err(|error| error.with_table(table.as_str()))?;
        // A token does not permit listing containers. The program must then spell the table's name exactly.
        let Some(names) = names else { return Ok(None) };
        let mut names = names.into_iter().filter(|name| name == table);
        let Some(name) = names.next() else { return Ok(None) };
        if let Some(other) = names.next() {
            return Err(Error::of(ContainerFault::Spellings(name, other)).with_table(table.as_str()));
        }
        match self.properties(name.as_str()).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if failure::is_missing(&error) => Ok(None),
            Err(error) => Err(failure::error("open the container", error)),
        }
    }

    /// Creates a table's container with the configured levels and the indexing policy.
    pub(crate) async fn create(&self, table: &TableName) -> Result<()> {
        table.require_creatable()?;
        let exists = || Error::of(ContainerFault::Exists).with_table(table.as_str());
        let is_there = match self.permitted_names().await.map_err(|error| error.with_table(table.as_str()))? {
            Some(names) => names.contains(table),
            // A token does not permit listing containers, but it permits reading an existing container.
            None => match self.properties(table.as_str()).await {
                Ok(_) => true,
                Err(error) if failure::is_missing(&error) || failure::is_forbidden(&error) => false,
                Err(error) => {
                    return Err(failure::error("open the container", error).with_table(table.as_str()));
                }
            },
        };
        if is_there {
            return Err(exists());
        }
        let throughput = match self.options().throughput {
            Some(Throughput::Manual(units)) => Some(ThroughputProperties::manual(units)),
            Some(Throughput::Autoscale(most)) => Some(ThroughputProperties::autoscale(most, None)),
            Some(Throughput::Shared) | None => None,
        };
        let options = throughput.map(|units| CreateContainerOptions::default().with_throughput(units));
        self.containers().forget(table);
        match self.database().create_container(properties(table, self.options()), options).await {
            Ok(answer) => acknowledged(&answer, table),
            Err(error) if failure::verdict(&error) == Verdict::Doubtful => {
                Err(failure::error("create the container", error).into_ambiguous().with_table(table.as_str()))
            }
            Err(error) if failure::is_missing(&error) => Err(self.no_database().with_table(table.as_str())),
            Err(error) if failure::status(&error).0 == 409 => Err(exists()),
            Err(error) => Err(failure::error("create the container", error).with_table(table.as_str())),
        }
    }

    /// Returns a client for the current container with the given name.
    ///
    /// The Azure SDK caches the container for each name, and only a point operation refreshes the cache. Without the refresh, a query would use the old
    /// container, and the service would reject the query's second page.
    async fn current(&self, client: ContainerClient, name: &str, depth: usize) -> Result<ContainerClient> {
        let key = key::partition_key(&vec![String::new(); depth])?;
        // The response does not matter. The request only refreshes the cache.
        let _ = Box::pin(client.read_item(key, "none", None)).await;
        let again = self.database().container_client(name.to_owned(), None).await;
        again.map_err(|error| failure::error("open the container", error))
    }

    /// Deletes a table's container.
    pub(crate) async fn delete(&self, table: &TableName) -> Result<()> {
        // A table can be deleted whatever its levels are, so the levels are not compared.
        let found = match self.properties(table.as_str()).await {
            Ok(found) => Some(found),
            Err(error) if failure::is_missing(&error) => self.in_another_case(table).await?,
            Err(error) => return Err(failure::error("open the container", error)),
        };
        let Some((client, _)) = found else {
            return Err(self.missing(ContainerFault::NothingToDelete, table).await);
        };
        self.containers().forget(table);
        match client.delete(None).await {
            Ok(answer) => acknowledged(&answer, table),
            Err(error) if failure::verdict(&error) == Verdict::Doubtful => {
                Err(failure::error("delete the container", error).into_ambiguous().with_table(table.as_str()))
            }
            Err(error) if failure::is_missing(&error) => {
                Err(Error::of(ContainerFault::NothingToDelete).with_table(table.as_str()))
            }
            Err(error) => Err(failure::error("delete the container", error).with_table(table.as_str())),
        }
    }
}
