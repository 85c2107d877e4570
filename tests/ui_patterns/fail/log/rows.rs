use table_patterns::Entity;
use table_patterns::embedded::Engine;
use table_patterns::log_tail::{LogStamp, LogTail};

#[derive(Entity)]
#[partition_key(tenant, user)]
#[row_key(stamp)]
struct Event {
    tenant: String,
    user: String,
    stamp: LogStamp,
    text: String,
}

fn newest(log: LogTail<Event, Engine>) {
    let of_tenant: table_patterns::Selection<Event, _> = Event::within("contoso").into();
    let _ = log.newest(of_tenant, 10);
}

fn main() {}
