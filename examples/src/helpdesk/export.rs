//! Exports the data of one tenant (tickets, comments and agents) as lines of JSON.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use futures_util::TryStreamExt;
use table_core::odata::write_body;
use table_core::{Entity, TableStoreExt};

use crate::helpdesk::Failed;
use crate::model::helpdesk::{HelpDesk, Ticket};
use crate::store::Store;

/// The result of an export.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Exported {
    /// The total number of exported entities.
    pub(super) entities: u32,
    /// The number of exported tickets.
    pub(super) tickets: u32,
}

/// Writes all entities of a tenant to a file one by one. Index rows are omitted, because an import recreates them.
pub(super) async fn tenant(store: &Store, tenant: &str, file: &Path) -> Result<Exported, Failed> {
    let mut file = BufWriter::new(File::create(file)?);
    let mut exported = Exported::default();
    let mut all = store.table::<Ticket>().query(Ticket::partition(tenant)).read_as::<HelpDesk>().stream();
    while let Some(member) = all.try_next().await? {
        let (key, row) = match member.value() {
            HelpDesk::Ticket(ticket) => (ticket.key_of()?, ticket.to_row()?),
            HelpDesk::Comment(comment) => (comment.key_of()?, comment.to_row()?),
            HelpDesk::Agent(agent) => (agent.key_of()?, agent.to_row()?),
            HelpDesk::Other(_) => continue,
        };
        exported.entities += 1;
        exported.tickets += u32::from(matches!(member.value(), HelpDesk::Ticket(_)));
        let key = (key.partition_key.as_str(), key.row_key.as_str());
        writeln!(file, "{}", write_body(Some(key), row.view())?)?;
    }
    file.flush()?;
    Ok(exported)
}
