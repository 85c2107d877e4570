//! Declarations that also have attributes of serde, and the declarations that messages propose in place of other libraries' words.

use serde::{Deserialize, Serialize};
use table_core::{Entity, EntitySet, KeyPart, TableEntity};

/// The names in JSON do not change the stored names.
#[derive(Entity, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[partition_key(tenant, user)]
#[row_key("session_", number)]
pub struct Session {
    pub tenant: String,
    pub user: String,
    pub number: u32,
    #[serde(rename = "device")]
    #[property("Device")]
    pub first_device: String,
}

/// A declaration that can only be written as JSON.
#[derive(Entity, Serialize)]
#[serde(deny_unknown_fields)]
#[partition_key(id)]
#[row_key("")]
pub struct Written {
    pub id: u32,
}

#[derive(KeyPart, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Owner {
    User,
    Team,
}

#[derive(Entity)]
#[partition_key(tenant)]
#[row_key("id_", id)]
#[index(ByParent, row_key("parent_", parent, "_", id))]
#[index(ByEmail, partition_key("email_", email), row_key(escaped(tenant), "!", id))]
#[index(ByOwner, unique, row_key("owner_", owner, "_", owner_value), include())]
pub struct Document {
    pub tenant: String,
    pub id: u32,
    pub parent: Option<u32>,
    pub email: String,
    pub owner: Owner,
    pub owner_value: u32,
}

#[derive(EntitySet)]
pub enum Item {
    Ticket(Ticket),
    Agent(Agent),
    #[other]
    Other(TableEntity),
}

#[derive(Entity)]
#[entity(table = "Desk", set = Item)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
pub struct Ticket {
    pub tenant: String,
    pub number: u32,
    pub text: String,
}

#[derive(Entity)]
#[entity(table = "Desk", set = Item)]
#[partition_key(tenant)]
#[row_key("agent_", number)]
pub struct Agent {
    pub tenant: String,
    pub number: u32,
    pub name: String,
}
