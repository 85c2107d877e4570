//! A program built from an earlier release. It writes tickets until the current release stores its schema.

use pollster::block_on;
use table_core::{ErrorCode, IfMatch};

use crate::together::desk::{
    TENANT, Ticket, TicketBadges, TicketByAgent, TicketByMail, TicketQueues, TicketTags, before,
};
use crate::together::run::Run;

impl Run {
    /// Runs the earlier release, which writes tickets without the newer properties, until the current release opens the table.
    /// The next write of the earlier release then fails.
    pub(super) fn older_program(&mut self) {
        let process = self.world.alive();
        let old = block_on(process.before().create_if_missing()).unwrap();
        let write = |number: u32, amount: i64| {
            let (tenant, status) = (TENANT.to_owned(), Some("open".to_owned()));
            let ticket = before::Ticket {
                tenant,
                number,
                status,
                mail: None,
                agent: None,
                queue: None,
                badge: None,
                tag: None,
                amount,
            };
            block_on(old.insert_or_replace(&ticket))
        };
        write(0, 1).unwrap();
        write(1, 2).unwrap();
        block_on(self.world.tickets(&process).create_if_missing()).unwrap();
        // Both programs share the store of this process. The older program therefore learns of the newer schema immediately.
        let error = write(2, 3).unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch);
        let tickets = block_on(process.plain().create_if_missing()).unwrap();
        block_on(async {
            tickets.backfill::<TicketByMail>().assume_no_older_programs().run().await.unwrap();
            tickets.backfill::<TicketByAgent>().assume_no_older_programs().run().await.unwrap();
            tickets.backfill::<TicketQueues>().assume_no_older_programs().run().await.unwrap();
            tickets.backfill::<TicketBadges>().assume_no_older_programs().run().await.unwrap();
            tickets.backfill::<TicketTags>().assume_no_older_programs().run().await.unwrap();
            assert_eq!(tickets.backfill_feed().assume_no_older_programs().run().await.unwrap(), None);
            tickets.backfill_copies().assume_no_older_programs().run().await.unwrap();
            // Patterns that were added later apply only to new writes. The old tickets are therefore deleted.
            for number in [0, 1] {
                let key = || Ticket::key(TENANT, number);
                tickets.delete(key(), IfMatch::Any).await.unwrap();
            }
        });
    }
}
