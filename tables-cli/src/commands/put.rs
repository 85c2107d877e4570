//! `tables put`: writes one entity.

use std::io::Write;

use table_core::{
    ETag, IfMatch, Operation, OperationKind, TableEntity, TableStore, TableStoreExt, Transaction,
};

use crate::commands::{Context, key, properties, say, say_json, table};
use crate::failure::{Exit, Failure, Result};
use crate::store::Purpose;
use table_inspect::derived;

/// Options of `put`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables put Company Sales 1 FirstName=Ada Age=36 Badge:Int64=7\n  tables put Company Sales 1 Age=37 --merge\n  tables put --json '{\"PartitionKey\":\"Sales\",\"RowKey\":\"1\",\"Age\":36}' Company"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Put {
    /// The table, which is created if it does not exist
    table: String,
    /// The PartitionKey
    #[arg(required_unless_present = "json")]
    partition_key: Option<String>,
    /// The RowKey
    #[arg(required_unless_present = "json")]
    row_key: Option<String>,
    /// Properties: NAME=VALUE, whose type is guessed, or NAME:TYPE=VALUE
    #[arg(value_name = "NAME[:TYPE]=VALUE")]
    properties: Vec<String>,
    /// The entity as JSON in the service's form; `-` reads standard input
    #[arg(long, value_name = "JSON", conflicts_with_all = ["partition_key", "row_key", "properties"])]
    json: Option<String>,
    /// Keep properties that are not given
    #[arg(long)]
    merge: bool,
    /// Fail if the key exists
    #[arg(long, conflicts_with = "merge")]
    insert: bool,
    /// Write only if the stored entity has this ETag
    #[arg(long, value_name = "ETAG", conflicts_with = "insert")]
    etag: Option<String>,
    /// Write even if this makes indexes, copies or feeds of the entity incorrect
    #[arg(long)]
    bypass_derived: bool,
    /// Show the entity without writing it
    #[arg(long)]
    dry_run: bool,
}

impl Put {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        let entity = self.entity()?;
        if self.dry_run {
            say_json(out, &entity)?;
            return Ok(Exit::Done);
        }
        let store = context.store.open(Purpose::Create).await?.tables;
        let name = table(&self.table)?;
        derived::refuse_plain_writes(&store, &name, self.bypass_derived).await?;
        let key = entity.key();
        let mut operations = vec![Operation { row_key: key.row_key.clone(), kind: self.kind(&entity)? }];
        if !self.bypass_derived {
            operations = derived::guard_writes(&store, &name, &key.partition_key, operations).await?.concat();
        }
        let transaction = Transaction::new(key.partition_key.clone(), store.capabilities().limits)?;
        let transaction = transaction.with_operations(operations)?;
        store.create_table_if_missing(&name).await?;
        let etag = store.submit(&name, transaction).await?.into_iter().next().flatten();
        say(out, &etag.map(|etag| etag.to_string()).unwrap_or_default())?;
        Ok(Exit::Done)
    }

    fn kind(&self, entity: &TableEntity) -> Result<OperationKind> {
        let row = entity.to_row()?;
        let etag = self.etag.as_deref().map(ETag::parse).transpose();
        let etag = etag.map_err(|error| Failure::Usage(error.to_string()))?.map(IfMatch::ETag);
        Ok(match (etag, self.merge, self.insert) {
            (Some(etag), true, _) => OperationKind::Merge(row, etag),
            (Some(etag), false, _) => OperationKind::Replace(row, etag),
            (None, true, _) => OperationKind::InsertOrMerge(row),
            (None, false, true) => OperationKind::Insert(row),
            (None, false, false) => OperationKind::InsertOrReplace(row),
        })
    }

    fn entity(&self) -> Result<TableEntity> {
        if let Some(json) = &self.json {
            let text = if json == "-" {
                std::io::read_to_string(std::io::stdin()).map_err(Failure::file("-"))?
            } else {
                json.clone()
            };
            return serde_json::from_str(&text)
                .map_err(|error| Failure::Usage(format!("the JSON is not an entity: {error}")));
        }
        let (partition_key, row_key) = (self.partition_key.as_deref(), self.row_key.as_deref());
        let key = key(partition_key.unwrap_or_default(), row_key.unwrap_or_default())?;
        let mut entity = TableEntity::from(key);
        for text in &self.properties {
            let (name, found) = properties::read(text)?;
            entity.insert(name, found);
        }
        Ok(entity)
    }
}
