//! Reads the properties of an open container again, and compares them with the options. The container may have been deleted or replaced since it was opened.

use azure_data_cosmos::models::ContainerProperties;
use table_core::{Result, TableName};

use crate::client::CosmosTables;
use crate::container::{Difference, compare, differences, incarnation_of};
use crate::containers::Container;
use crate::failure;
use crate::throughput::Throughput;

impl CosmosTables {
    /// Returns the container that currently stores a table, with its current properties.
    ///
    /// # Errors
    /// - `TableNotFound` if the container does not exist, for example because it was deleted after it was opened.
    /// - `SchemaMismatch`, as for every other request.
    pub(crate) async fn described(&self, table: &TableName) -> Result<(Container, ContainerProperties)> {
        let container = self.container(table).await?;
        let described = async { container.client.read(None).await?.into_model() };
        match Box::pin(described).await {
            Ok(properties) if incarnation_of(&properties) == container.incarnation => {
                // The container's time to live may have changed since it was opened.
                compare(table, self.options(), &container.mapping, &properties)
                    .inspect_err(|_| self.containers().forget(table))?;
                return Ok((container, properties));
            }
            // The container was deleted or replaced after it was opened.
            Ok(_) => {}
            Err(error) if failure::is_missing(&error) || failure::is_container_new(&error) => {}
            Err(error) => return Err(failure::error("read the container", error).with_table(table.as_str())),
        }
        self.containers().forget(table);
        self.open_container(table).await.map_err(|error| error.with_table(table.as_str()))
    }

    /// Returns those differences between a table's container and the options that do not prevent the use of the container.
    ///
    /// Each difference is also logged as a warning when the container is opened.
    ///
    /// ```no_run
    /// # use table_core::{Result, TableName};
    /// # use table_cosmos::CosmosTables;
    /// # async fn program(store: CosmosTables) -> Result<()> {
    /// for difference in store.differences(&TableName::new("Events")?).await? {
    ///     println!("{difference}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `TableNotFound` or `SchemaMismatch`, as for every other request.
    /// - `AuthorizationFailure` if the store was opened with a token, which does not permit reading the throughput.
    pub async fn differences(&self, table: &TableName) -> Result<Vec<Difference>> {
        let table = table.clone();
        self.run(|store| async move {
            let (container, properties) = store.described(&table).await?;
            let throughput = store.compared_throughput(&container).await;
            let throughput = throughput.map_err(|error| error.with_table(table.as_str()))?;
            Ok(differences(&table, store.options(), &properties).into_iter().chain(throughput).collect())
        })
        .await
    }

    /// Returns the difference between a container's throughput and the configured throughput. Returns `None` if the options do not set a throughput.
    pub(super) async fn compared_throughput(&self, container: &Container) -> Result<Option<Difference>> {
        let Some(asked) = self.options().throughput else { return Ok(None) };
        let found = Box::pin(container.client.read_throughput(None)).await;
        let found = found.map_err(|error| failure::error("read the throughput", error))?;
        let found = Throughput::of(found.as_ref());
        Ok((found != asked).then_some(Difference::Throughput { asked, found }))
    }
}
