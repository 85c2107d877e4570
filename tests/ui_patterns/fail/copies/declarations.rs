// A type names the same relation twice.
mod named_twice {
    use table_patterns::Entity;
    use table_patterns::Selection;
    use table_patterns::copies::CopyRelation;
    use table_patterns::selection::Point;

    #[derive(Entity)]
    #[entity(table = "Desk", copied_by(Assignee, Assignee))] //~ T002
    #[partition_key(tenant)]
    #[row_key("agent_", id)]
    pub struct Agent {
        pub tenant: String,
        pub id: u32,
        pub name: String,
    }

    #[derive(Entity)]
    #[entity(table = "Desk", copies_from(Assignee))]
    #[partition_key(tenant)]
    #[row_key("ticket_", number)]
    pub struct Ticket {
        pub tenant: String,
        pub number: u32,
        pub agent: i32,
        pub agent_name: String,
    }

    pub struct Assignee;

    impl CopyRelation for Assignee {
        type Source = Agent;
        type Holder = Ticket;
        type Copied = String;
        const NAME: &'static str = "assignee";
        fn reference(ticket: &Ticket) -> Option<Selection<Agent, Point>> {
            Some(Agent::key(&ticket.tenant, ticket.agent.unsigned_abs()))
        }
        fn copied(agent: &Agent) -> String {
            agent.name.clone()
        }
        fn set(ticket: &mut Ticket, name: String) {
            ticket.agent_name = name;
        }
        fn clear(ticket: &mut Ticket) {
            ticket.agent = 0;
        }
    }
}

// A type declares a list of relations without naming one.
mod none {
    use table_patterns::Entity;
    use table_patterns::Selection;
    use table_patterns::copies::CopyRelation;
    use table_patterns::selection::Point;

    #[derive(Entity)]
    #[entity(table = "Desk", copied_by(Assignee))]
    #[partition_key(tenant)]
    #[row_key("agent_", id)]
    pub struct Agent {
        pub tenant: String,
        pub id: u32,
        pub name: String,
    }

    #[derive(Entity)]
    #[entity(table = "Desk", copies_from(Assignee), copied_by())] //~ T004
    #[partition_key(tenant)]
    #[row_key("ticket_", number)]
    pub struct Ticket {
        pub tenant: String,
        pub number: u32,
        pub agent: i32,
        pub agent_name: String,
    }

    pub struct Assignee;

    impl CopyRelation for Assignee {
        type Source = Agent;
        type Holder = Ticket;
        type Copied = String;
        const NAME: &'static str = "assignee";
        fn reference(ticket: &Ticket) -> Option<Selection<Agent, Point>> {
            Some(Agent::key(&ticket.tenant, ticket.agent.unsigned_abs()))
        }
        fn copied(agent: &Agent) -> String {
            agent.name.clone()
        }
        fn set(ticket: &mut Ticket, name: String) {
            ticket.agent_name = name;
        }
        fn clear(ticket: &mut Ticket) {
            ticket.agent = 0;
        }
    }
}

fn main() {}
