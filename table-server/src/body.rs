//! Reads a request body into memory.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;

use crate::refusal::Refusal;

/// Reads a body of at most `most` bytes. Each frame's bytes are copied, and the frame is dropped: a frame may contain a single byte but take more than thirty
/// times as much memory.
///
/// # Errors
/// `RequestBodyTooLarge` if the body is too large; `InvalidInput` if the connection breaks.
pub(crate) async fn read(
    body: &mut (impl Body<Data = Bytes> + Unpin),
    most: usize,
) -> Result<Vec<u8>, Refusal> {
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::input("the connection broke before the end of the body"))?;
        let Some(data) = frame.data_ref() else { continue };
        if data.len() > most.saturating_sub(whole.len()) {
            return Err(too_large(most));
        }
        whole.extend_from_slice(data);
    }
    Ok(whole)
}

/// Rejects a body of more than `most` bytes.
pub(crate) fn too_large(most: usize) -> Refusal {
    Refusal::new(413, "RequestBodyTooLarge", format!("a body has at most {most} bytes"))
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll};

    use http::HeaderMap;
    use hyper::body::Frame;

    use super::*;

    /// A body of one-byte frames, followed by trailers or an error.
    struct Letters {
        frames: usize,
        is_broken: bool,
        /// Its reference count is the number of frames in memory, plus one.
        alive: Arc<()>,
    }

    struct Letter(#[expect(dead_code, reason = "counted")] Arc<()>);

    impl AsRef<[u8]> for Letter {
        fn as_ref(&self) -> &[u8] {
            b"x"
        }
    }

    impl Body for Letters {
        type Data = Bytes;
        type Error = &'static str;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            assert!(Arc::strong_count(&self.alive) == 1, "an earlier frame is still in memory");
            let last = if self.is_broken { Err("broken") } else { Ok(Frame::trailers(HeaderMap::new())) };
            let letter = Letter(Arc::clone(&self.alive));
            let Some(left) = self.frames.checked_sub(1) else { return Poll::Ready(None) };
            self.frames = left;
            Poll::Ready(Some(if left == 0 { last } else { Ok(Frame::data(Bytes::from_owner(letter))) }))
        }
    }

    #[tokio::test]
    async fn a_body_takes_no_more_memory_if_its_frames_are_small() {
        for (letters, is_broken, expected) in [
            (0, false, Ok(0)),
            (1, false, Ok(1)),
            (1_000, false, Ok(1_000)),
            (1_001, false, Err(413)),
            (5_000, false, Err(413)),
            (1_000, true, Err(400)),
        ] {
            let mut body = Letters { frames: letters + 1, is_broken, alive: Arc::default() };
            let found = read(&mut body, 1_000).await;
            assert_eq!(found.map(|body| body.len()).map_err(|refusal| refusal.status), expected, "{letters}");
        }
    }
}
