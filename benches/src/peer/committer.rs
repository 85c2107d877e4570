//! A thread that commits for many threads. It commits all pending jobs together, and replies to each thread once its job is durable.

use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use crate::Outcome;

/// The maximum number of jobs in one commit.
const GROUP: usize = 1_024;

/// The reply to a thread that submitted a job.
pub type Reply = Result<(), String>;

/// A committer of jobs submitted by many threads.
#[derive(Debug)]
pub struct Committer<J> {
    jobs: Option<Sender<(J, SyncSender<Reply>)>>,
    thread: Option<JoinHandle<()>>,
}

impl<J: Send + 'static> Committer<J> {
    /// Starts a committer thread. `commit` receives the pending jobs, commits them together, and returns a reply to each of them.
    pub fn start(
        mut commit: impl FnMut(&mut dyn Iterator<Item = J>) -> Outcome<Vec<Reply>> + Send + 'static,
    ) -> Self {
        let (jobs, queue) = channel::<(J, SyncSender<Reply>)>();
        let thread = std::thread::spawn(move || {
            let mut writers = Vec::new();
            while let Ok(first) = queue.recv() {
                let taken = std::iter::once(first).chain(queue.try_iter()).take(GROUP);
                let mut group = taken.map(|(job, writer)| {
                    writers.push(writer);
                    job
                });
                let replies = commit(&mut group);
                let failed = replies.as_ref().err().map(ToString::to_string);
                let mut replies = replies.unwrap_or_default().into_iter();
                for writer in writers.drain(..) {
                    let missing = || Err(failed.clone().unwrap_or_else(|| "no reply".to_owned()));
                    let _gone = writer.send(replies.next().unwrap_or_else(missing));
                }
            }
        });
        Self { jobs: Some(jobs), thread: Some(thread) }
    }

    /// Submits a job and waits until it is durable.
    pub fn submit(&self, job: J) -> Outcome<()> {
        let (writer, reply) = sync_channel(1);
        let jobs = self.jobs.as_ref().ok_or("the committer is gone")?;
        jobs.send((job, writer)).map_err(|_| "the committer has ended")?;
        Ok(reply.recv()??)
    }
}

impl<J> Drop for Committer<J> {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_job_gets_its_reply() {
        let odd = |job: u32| if job % 2 == 1 { Ok(()) } else { Err("even".to_owned()) };
        let committer = Committer::start(move |jobs| Ok(jobs.map(odd).collect()));
        std::thread::scope(|scope| {
            for job in 0..50 {
                let committer = &committer;
                scope.spawn(move || assert_eq!(committer.submit(job).is_ok(), job % 2 == 1));
            }
        });
    }

    #[test]
    fn a_failed_commit_fails_all_of_its_jobs() {
        let committer = Committer::start(|jobs: &mut dyn Iterator<Item = u32>| {
            jobs.for_each(drop);
            Err("no room".into())
        });
        assert_eq!(committer.submit(1).map_err(|error| error.to_string()), Err("no room".to_owned()));
    }
}
