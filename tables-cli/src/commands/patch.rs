//! `tables patch`: changes some properties of an existing entity, conditional on the entity's version.

use std::io::Write;

use table_core::{EdmType, IfMatch, Operation, OperationKind, TableEntity, TableStore, Transaction};

use crate::commands::{Context, key, properties, say, say_json, table};
use crate::failure::{Exit, Failure, Result};
use crate::store::Purpose;
use table_inspect::derived;
use table_inspect::keys;
use table_inspect::value;

/// Options of `patch`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  tables patch Company Sales empid_000223 Age=37 --store data/company\n  tables patch Company Sales empid_000223 --remove Photo --store data/company\n  echo '{\"Age\": 38}' | tables patch Company Sales empid_000223 --json - --store data/company\n\nA value has the type of the stored property, unless NAME:TYPE=VALUE gives another one."
)]
pub(super) struct Patch {
    /// The table
    table: String,
    /// The PartitionKey
    partition_key: String,
    /// The RowKey
    row_key: String,
    /// Properties to set: NAME=VALUE or NAME:TYPE=VALUE
    #[arg(value_name = "NAME[:TYPE]=VALUE")]
    properties: Vec<String>,
    /// Properties to set, as a JSON object in the service's form; `-` reads standard input
    #[arg(long, value_name = "JSON")]
    json: Option<String>,
    /// Properties to remove (comma-separated)
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    remove: Vec<String>,
    /// Write even if the entity has changed since it was read; all other properties keep the values written by other programs
    #[arg(long)]
    ignore_etag: bool,
    /// Write even if this makes indexes, copies or feeds of the entity incorrect
    #[arg(long)]
    bypass_derived: bool,
    /// Show the changed entity without writing it
    #[arg(long)]
    dry_run: bool,
}

impl Patch {
    pub(super) async fn run(&self, context: &Context, out: &mut dyn Write) -> Result<Exit> {
        if self.properties.is_empty() && self.json.is_none() && self.remove.is_empty() {
            let help = "pass NAME=VALUE, `--json` or `--remove`";
            return Err(Failure::Usage(format!("no change is given; {help}")));
        }
        let purpose = if self.dry_run { Purpose::Read } else { Purpose::Write };
        let store = context.store.open(purpose).await?.tables;
        let name = table(&self.table)?;
        let key = key(&self.partition_key, &self.row_key)?;
        let json = self.json.as_deref().map(object_of).transpose()?;
        loop {
            let Some(found) = keys::read(&store, &name, &key).await? else { return Ok(Exit::Nothing) };
            let set = self.set(json.as_ref(), &found)?;
            let entity = self.changed(&found, &set)?;
            if self.dry_run {
                say_json(out, &entity)?;
                return Ok(Exit::Done);
            }
            derived::refuse_plain_writes(&store, &name, self.bypass_derived).await?;
            derived::refuse_torn_part(&found, &entity, self.bypass_derived)?;
            let condition = found.etag().cloned().map_or(IfMatch::Any, IfMatch::ETag);
            // IMPORTANT: an unconditional write contains only the given properties, because other programs may have changed the remaining properties since the
            // entity was read.
            let kind = if self.ignore_etag && self.remove.is_empty() {
                OperationKind::Merge(set.to_row()?, IfMatch::Any)
            } else {
                OperationKind::Replace(entity.to_row()?, condition)
            };
            let mut transaction = Transaction::new(key.partition_key.clone(), store.capabilities().limits)?;
            transaction.push(Operation { row_key: key.row_key.clone(), kind })?;
            match store.submit(&name, transaction).await {
                // Only a replacement can remove a property, but it must not undo changes made by other programs. If another program has changed the entity, the
                // loop retries.
                Err(error) if self.ignore_etag && error.is_precondition_failed() => {}
                written => {
                    let etag = written?.into_iter().next().flatten();
                    say(out, &etag.map(|etag| etag.to_string()).unwrap_or_default())?;
                    return Ok(Exit::Done);
                }
            }
        }
    }

    /// Returns the properties to set. Each value has the type of the stored property, unless another type is given.
    fn set(&self, json: Option<&Object>, found: &TableEntity) -> Result<TableEntity> {
        let mut set = TableEntity::from(found.key().clone());
        let stored = |name: &str| -> Option<EdmType> { found.get(name).map(table_core::Value::edm_type) };
        for text in &self.properties {
            let (name, value) = properties::read_like(text, stored)?;
            set.insert(name, value);
        }
        if let Some(json) = json {
            for (name, value) in patch_of(json.clone(), found)?.iter() {
                set.insert(name, value.clone());
            }
        }
        Ok(set)
    }

    /// Returns the stored entity with all changes applied.
    fn changed(&self, found: &TableEntity, set: &TableEntity) -> Result<TableEntity> {
        let mut entity = TableEntity::from(found.key().clone());
        for (name, value) in found.iter() {
            entity.insert(name, value.clone());
        }
        for name in &self.remove {
            if entity.remove(name).is_none() {
                return Err(Failure::Refused(format!("the entity has no property `{name}` to remove")));
            }
        }
        for (name, value) in set.iter() {
            entity.insert(name, value.clone());
        }
        Ok(entity)
    }
}

type Object = serde_json::Map<String, serde_json::Value>;

fn wrong(error: &serde_json::Error) -> Failure {
    Failure::Usage(format!("the JSON is not an object of properties: {error}"))
}

/// Parses a JSON object. If `json` is `-`, reads the object from standard input.
fn object_of(json: &str) -> Result<Object> {
    let text = if json == "-" {
        std::io::read_to_string(std::io::stdin()).map_err(Failure::file("-"))?
    } else {
        json.to_owned()
    };
    serde_json::from_str(&text).map_err(|error| wrong(&error))
}

/// Returns the properties in a JSON object. The object need not contain the keys. A value without a type has the type of the stored property.
fn patch_of(mut object: Object, found: &TableEntity) -> Result<TableEntity> {
    let key = found.key();
    for (name, text) in [("PartitionKey", key.partition_key.as_str()), ("RowKey", key.row_key.as_str())] {
        if object.get(name).is_some_and(|given| given.as_str() != Some(text)) {
            return Err(Failure::Usage(format!("the JSON has a different {name}; a key cannot change")));
        }
        object.insert(name.to_owned(), text.into());
    }
    if let Some((name, _)) = object.iter().find(|(_, value)| value.is_null()) {
        return Err(Failure::Usage(format!("`{name}` is null in the JSON; use `--remove {name}`")));
    }
    let mut typed = Vec::new();
    for (name, stored) in found.iter() {
        let is_typed = object.contains_key(&format!("{name}@odata.type"));
        let text = match object.get(name).filter(|_| !is_typed) {
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_))) => value.to_string(),
            _ => continue,
        };
        let edm = stored.edm_type();
        let read = value::read(edm, &text).map_err(|expected| {
            let help = format!("give another type as `{name}@odata.type`");
            Failure::Usage(format!("`{name}` is stored as {edm}; expected {expected}, not `{text}`; {help}"))
        })?;
        object.remove(name);
        typed.push((name.to_owned(), read));
    }
    let mut patch: TableEntity =
        serde_json::from_value(serde_json::Value::Object(object)).map_err(|error| wrong(&error))?;
    for (name, value) in typed {
        patch.insert(name, value);
    }
    Ok(patch)
}
