//! Lists the containers that store tables.

use azure_data_cosmos::models::ContainerProperties;
use azure_data_cosmos::{CosmosError, Query};
use futures_util::TryStreamExt;
use table_core::limits::PAGE_ENTITIES;
use table_core::store::TablePage;
use table_core::{Error, Result, TableName};

use crate::client::CosmosTables;
use crate::container::fault::ContainerFault;
use crate::failure;

impl CosmosTables {
    /// Returns the names of all containers that are valid table names, in order.
    pub(super) async fn names(&self) -> Result<Vec<TableName>> {
        self.listed().await.map_err(|error| self.not_listed(error))
    }

    /// Returns the result of [`names`](Self::names), or `None` if the credential does not permit listing containers.
    pub(super) async fn permitted_names(&self) -> Result<Option<Vec<TableName>>> {
        match self.listed().await {
            Ok(names) => Ok(Some(names)),
            Err(error) if failure::is_forbidden(&error) => Ok(None),
            Err(error) => Err(self.not_listed(error)),
        }
    }

    async fn listed(&self) -> Result<Vec<TableName>, CosmosError> {
        let listed = async {
            let containers = self.database().query_containers(Query::from("SELECT * FROM c"), None).await?;
            containers.try_collect::<Vec<ContainerProperties>>().await
        };
        let containers = Box::pin(listed).await?;
        let mut names: Vec<TableName> =
            containers.iter().filter_map(|container| TableName::new(&container.id).ok()).collect();
        names.sort_by(|left, right| {
            left.folded().cmp(right.folded()).then_with(|| left.as_str().cmp(right.as_str()))
        });
        Ok(names)
    }

    fn not_listed(&self, error: CosmosError) -> Error {
        if failure::is_missing(&error) {
            self.no_database()
        } else {
            failure::error("list the containers", error)
        }
    }

    /// Returns one page of table names (OPT-5, PAGE-12).
    pub(crate) async fn list(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        if top > PAGE_ENTITIES {
            return Err(Error::of(ContainerFault::Page(top, PAGE_ENTITIES)));
        }
        let (prefix, from) = (prefix.to_ascii_lowercase(), from.map(str::to_ascii_lowercase));
        let mut names: Vec<TableName> = self.names().await?;
        // A page continues after a name regardless of its case. A listing must therefore contain only one of several names that differ only in case.
        names.dedup_by(|other, name| {
            let is_same = other == name;
            if is_same {
                tracing::warn!(target: "table_cosmos", %name, %other, "the names of two containers differ only in case (TBL-2)");
            }
            is_same
        });
        names.retain(|name| {
            name.folded().starts_with(&prefix) && from.as_deref().is_none_or(|from| name.folded() >= from)
        });
        let next = names.get(top).filter(|_| top > 0).map(|name| name.as_str().to_owned());
        names.truncate(top);
        Ok(TablePage { names, next })
    }
}
