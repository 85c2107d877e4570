//! Determines a request's operation, for metrics and logs.

use crate::exchange::Exchange;
use crate::service::Service;

macro_rules! operations {
    ($($name:ident)*) => {
        /// An operation of a service.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Operation {
            $($name,)*
        }

        impl Operation {
            /// All operations.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the name of the operation in the service's documentation.
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
    /// Returns the operation of a request, which is determined from its method, path and query. A rejected request is counted for the operation that the client
    /// requested.
    pub(crate) fn of(exchange: &Exchange) -> Self {
        if exchange.service == Service::Blobs {
            return Self::Blob;
        }
        let verb = exchange.verb().unwrap_or_default();
        if verb == "OPTIONS" {
            return Self::Preflight;
        }
        let has = |name, value| exchange.query_is(name, value);
        if has("restype", "service") {
            return if has("comp", "stats") { Self::ServiceStats } else { Self::ServiceProperties };
        }
        if exchange.service == Service::Tables {
            Self::of_tables(verb, &exchange.path, has("comp", "acl"))
        } else {
            Self::of_queues(verb, exchange)
        }
    }

    fn of_tables(verb: &str, path: &str, acl: bool) -> Self {
        let name = path.split(['(', '/']).next().unwrap_or_default();
        let names_one = || path.contains("='") || path.contains("('");
        match verb {
            _ if path.is_empty() => Self::Other,
            _ if acl => Self::TableAcl,
            "POST" if path == "$batch" => Self::EntityGroupTransaction,
            _ if name.eq_ignore_ascii_case("tables") => match verb {
                "POST" => Self::CreateTable,
                "DELETE" => Self::DeleteTable,
                "GET" if names_one() => Self::GetTable,
                "GET" => Self::QueryTables,
                _ => Self::Other,
            },
            "GET" if names_one() => Self::GetEntity,
            "GET" => Self::QueryEntities,
            "POST" => Self::InsertEntity,
            "PUT" => Self::UpdateEntity,
            "MERGE" | "PATCH" => Self::MergeEntity,
            "DELETE" => Self::DeleteEntity,
            _ => Self::Other,
        }
    }

    fn of_queues(verb: &str, exchange: &Exchange) -> Self {
        let mut parts = exchange.path.splitn(3, '/');
        let (name, messages, id) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        let comp = exchange.query("comp");
        match (verb, messages, id) {
            ("GET", ..) if name.is_empty() => Self::ListQueues,
            _ if comp.as_deref() == Some("acl") => Self::QueueAcl,
            _ if comp.as_deref() == Some("metadata") => Self::QueueMetadata,
            ("POST", Some(_), None) => Self::PutMessage,
            ("GET", Some(_), None) if exchange.query_is("peekonly", "true") => Self::PeekMessages,
            ("GET", Some(_), None) => Self::GetMessages,
            ("DELETE", Some(_), None) => Self::ClearMessages,
            ("PUT", Some(_), Some(_)) => Self::UpdateMessage,
            ("DELETE", Some(_), Some(_)) => Self::DeleteMessage,
            ("PUT", None, None) => Self::CreateQueue,
            ("DELETE", None, None) => Self::DeleteQueue,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_tables() {
        for (verb, path, expected) in [
            ("GET", "Tables", Operation::QueryTables),
            ("GET", "Tables('Employee')", Operation::GetTable),
            ("POST", "Tables", Operation::CreateTable),
            ("GET", "Employee()", Operation::QueryEntities),
            ("GET", "Employee(PartitionKey='a',RowKey='b')", Operation::GetEntity),
            ("MERGE", "Employee(PartitionKey='a',RowKey='b')", Operation::MergeEntity),
            ("POST", "$batch", Operation::EntityGroupTransaction),
            ("POST", "Employee", Operation::InsertEntity),
            ("TRACE", "Employee", Operation::Other),
            ("GET", "", Operation::Other),
        ] {
            assert_eq!(Operation::of_tables(verb, path, false), expected, "{verb} {path}");
        }
    }
}
