// A declaration names the source instead of the relation.
mod not_a_relation {
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
    #[entity(table = "Desk", copies_from(Assignee, Agent))] //~ T185
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

// PAT-DEN-2: the two ends of a relation are mixed up.
mod other_end {
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
    #[entity(table = "Desk", copies_from(Assignee), copied_by(Assignee))] //~ T183
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

// PAT-DEN-2: the holder in a relation does not declare the relation.
mod silent_holder {
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
    #[entity(table = "Desk")]
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
        type Holder = Ticket; //~ T182
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

// PAT-DEN-2: the source in a relation does not declare the relation. The handles of the source would therefore not update the copies.
mod silent_source {
    use table_patterns::Entity;
    use table_patterns::Selection;
    use table_patterns::copies::CopyRelation;
    use table_patterns::selection::Point;

    #[derive(Entity)]
    #[entity(table = "Desk")]
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
        type Source = Agent; //~ T182
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
