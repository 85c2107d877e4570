//! The ticket types under test, called cases. There is one for each pair of index kinds, and each has a feed.

use std::fmt::Debug;

use table_core::entity::FeedEntity;
use table_core::selection::{Partition, Point, Selection};

use crate::declared::model::Ticket;

/// The tenant. Its partition contains all tickets.
pub(crate) const TENANT: &str = "contoso";

/// A ticket type that declares two or more features.
pub(crate) trait Case: FeedEntity + Clone + Debug + PartialEq + Send + Sync + 'static {
    fn of(ticket: Ticket) -> Self;
    fn ticket(&self) -> Ticket;
    fn at(number: u32) -> Selection<Self, Point>;
    fn all() -> Selection<Self, Partition>;
}

macro_rules! cases {
    ($($name:ident: $(#[$declaration:meta])+)+) => {$(
        mod $name {
            use table_core::Entity;
            use table_core::selection::{Partition, Point, Selection};

            use super::{Case, TENANT};
            use crate::declared::model::Ticket;

            #[derive(Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Desk", feed)]
            #[partition_key(tenant)]
            #[row_key("ticket_", number)]
            $(#[$declaration])+
            struct Declared {
                tenant: String,
                #[digits(4)]
                number: u32,
                status: i32,
                mail: String,
                agent: String,
                points: i64,
                comments: i32,
            }

            impl Case for Declared {
                fn of(ticket: Ticket) -> Self {
                    let Ticket { number, status, mail, agent, points, comments } = ticket;
                    Self { tenant: TENANT.to_owned(), number, status, mail, agent, points, comments }
                }

                fn ticket(&self) -> Ticket {
                    let Self { number, status, mail, agent, points, comments, .. } = self.clone();
                    Ticket { number, status, mail, agent, points, comments }
                }

                fn at(number: u32) -> Selection<Self, Point> {
                    Self::key(TENANT, number)
                }

                fn all() -> Selection<Self, Partition> {
                    Self::partition(TENANT)
                }
            }

            #[test]
            fn all_derived_data_matches_the_entities_after_any_history() {
                crate::declared::runs::<Declared>();
            }
        }
    )+};
}

cases! {
    here_and_unique:
        #[index(ByStatus, row_key("status_", status, "_", number))]
        #[index(ByMail, unique, row_key("mail_", mail))]
    here_and_elsewhere:
        #[index(ByStatus, row_key("status_", status, "_", number))]
        #[index(Stati, table = "Stati", partition_key("status_", status), row_key(tenant, "_", number))]
    here_and_list:
        #[index(ByStatus, row_key("status_", status, "_", number))]
        #[index_entity(ByAgent, at_most = 100, row_key("agent_", agent))]
    here_and_list_elsewhere:
        #[index(ByStatus, row_key("status_", status, "_", number))]
        #[index_entity(Agents, at_most = 100, table = "Agents", partition_key(agent), row_key("all"))]
    unique_and_elsewhere:
        #[index(ByMail, unique, row_key("mail_", mail))]
        #[index(Stati, table = "Stati", partition_key("status_", status), row_key(tenant, "_", number))]
    unique_and_list:
        #[index(ByMail, unique, row_key("mail_", mail))]
        #[index_entity(ByAgent, at_most = 100, row_key("agent_", agent))]
    unique_and_list_elsewhere:
        #[index(ByMail, unique, row_key("mail_", mail))]
        #[index_entity(Agents, at_most = 100, table = "Agents", partition_key(agent), row_key("all"))]
    elsewhere_and_list:
        #[index(Stati, table = "Stati", partition_key("status_", status), row_key(tenant, "_", number))]
        #[index_entity(ByAgent, at_most = 100, row_key("agent_", agent))]
    elsewhere_and_list_elsewhere:
        #[index(Stati, table = "Stati", partition_key("status_", status), row_key(tenant, "_", number))]
        #[index_entity(Agents, at_most = 100, table = "Agents", partition_key(agent), row_key("all"))]
    list_and_list_elsewhere:
        #[index_entity(ByAgent, at_most = 100, row_key("agent_", agent))]
        #[index_entity(Agents, at_most = 100, table = "Agents", partition_key(agent), row_key("all"))]
    all_of_them:
        #[index(ByStatus, row_key("status_", status, "_", number))]
        #[index(ByMail, unique, row_key("mail_", mail))]
        #[index(Stati, table = "Stati", partition_key("status_", status), row_key(tenant, "_", number))]
        #[index_entity(ByAgent, at_most = 100, row_key("agent_", agent))]
        #[index_entity(Agents, at_most = 100, table = "Agents", partition_key(agent), row_key("all"))]
}
