//! Determines a request's operation, for metrics and logs.

use http::Method;

use crate::exchange::Exchange;
use crate::service::Service;
use crate::{queues, tables};

macro_rules! operations {
    ($($name:ident)*) => {
        /// A service operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Operation {
            $($name,)*
        }

        impl Operation {
            /// All operations.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the operation's name in the service documentation.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }
        }
    };
}

operations! {
    QueryTables CreateTable GetTable DeleteTable TableAcl
    QueryEntities GetEntity InsertEntity UpdateEntity MergeEntity DeleteEntity EntityGroupTransaction
    ListQueues CreateQueue DeleteQueue QueueMetadata QueueAcl
    PutMessage GetMessages PeekMessages UpdateMessage DeleteMessage ClearMessages
    ServiceProperties ServiceStats Preflight Blob Other
}

impl Operation {
    /// Returns a request's operation, determined from its method, path and query. A rejected request is counted under the operation that it requested.
    pub(crate) fn of(exchange: &Exchange) -> Self {
        if exchange.service == Service::Blobs {
            return Self::Blob;
        }
        if exchange.method == Method::OPTIONS {
            return Self::Preflight;
        }
        let has = |name, value| exchange.query_is(name, value);
        if has("restype", "service") {
            return if has("comp", "stats") { Self::ServiceStats } else { Self::ServiceProperties };
        }
        let verb = exchange.verb().unwrap_or_default();
        if exchange.service == Service::Tables {
            Self::of_tables(verb, &exchange.path, has("comp", "acl"))
        } else {
            Self::of_queues(verb, exchange)
        }
    }

    fn of_tables(verb: &str, path: &str, acl: bool) -> Self {
        use tables::path::Target;
        let Ok(target) = tables::path::read(path) else { return Self::Other };
        match (verb, target) {
            _ if acl => Self::TableAcl,
            ("POST", Target::Batch) => Self::EntityGroupTransaction,
            ("GET", Target::Names) => Self::QueryTables,
            ("POST", Target::Names) => Self::CreateTable,
            ("GET", Target::Name(_)) => Self::GetTable,
            ("DELETE", Target::Name(_)) => Self::DeleteTable,
            ("GET", Target::Table(_)) => Self::QueryEntities,
            ("POST", Target::Table(_) | Target::Below(_)) => Self::InsertEntity,
            ("GET", Target::Entity(..) | Target::SingleKey(_)) => Self::GetEntity,
            ("PUT", Target::Entity(..) | Target::SingleKey(_)) => Self::UpdateEntity,
            ("MERGE" | "PATCH", Target::Entity(..) | Target::SingleKey(_)) => Self::MergeEntity,
            ("DELETE", Target::Entity(..) | Target::SingleKey(_)) => Self::DeleteEntity,
            _ => Self::Other,
        }
    }

    fn of_queues(verb: &str, exchange: &Exchange) -> Self {
        use queues::path::Target;
        match (verb, queues::path::read(&exchange.path)) {
            ("GET", Target::Names) => Self::ListQueues,
            (_, Target::Queue(_)) => match (verb, exchange.query("comp").as_deref()) {
                (_, Some("acl")) => Self::QueueAcl,
                (_, Some("metadata")) => Self::QueueMetadata,
                ("PUT", _) => Self::CreateQueue,
                ("DELETE", _) => Self::DeleteQueue,
                _ => Self::Other,
            },
            ("POST", Target::Messages(_)) => Self::PutMessage,
            ("GET", Target::Messages(_)) if exchange.query_is("peekonly", "true") => Self::PeekMessages,
            ("GET", Target::Messages(_)) => Self::GetMessages,
            ("DELETE", Target::Messages(_)) => Self::ClearMessages,
            ("PUT", Target::Message(..)) => Self::UpdateMessage,
            ("DELETE", Target::Message(..)) => Self::DeleteMessage,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests;
