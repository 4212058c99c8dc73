//! One HTTP/1.1 response, read out of bytes that arrive in pieces.

use std::borrow::Cow;

use httparse::{EMPTY_HEADER, Header, Response, Status};
use memchr::memmem;

/// A complete response.
pub(crate) struct Answer<'a> {
    /// The body without its framing; of an event stream, the data alone.
    pub(crate) body: Cow<'a, [u8]>,
    /// How many of the bytes were this response.
    pub(crate) length: usize,
}

impl<'a> Answer<'a> {
    /// Reads the response at the start of `bytes`, or `None` while its end is missing.
    ///
    /// # Errors
    /// Says what is wrong with it: no HTTP, another status than 200, no length.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Option<Self>, String> {
        let mut headers = [EMPTY_HEADER; 32];
        let mut response = Response::new(&mut headers);
        let parsed = response.parse(bytes).map_err(|error| error.to_string())?;
        let Status::Complete(head) = parsed else {
            return Ok(None);
        };
        let Some(answer) = Self::body(&bytes[head..], response.headers)? else {
            return Ok(None);
        };
        if response.code != Some(200) {
            let body = String::from_utf8_lossy(&answer.body);
            return Err(format!("status {:?}: {body}", response.code));
        }
        let length = head + answer.length;
        let body = match header(response.headers, "content-type") {
            Some(b"text/event-stream") => Cow::Owned(event_data(&answer.body)),
            _ => answer.body,
        };
        Ok(Some(Self { body, length }))
    }

    fn body(bytes: &'a [u8], headers: &[Header<'_>]) -> Result<Option<Self>, String> {
        if let Some(value) = header(headers, "content-length") {
            let length = str::from_utf8(value)
                .ok()
                .and_then(|digits| digits.parse().ok())
                .ok_or("content-length is no number")?;
            let body = bytes.get(..length).map(Cow::Borrowed);
            return Ok(body.map(|body| Self { body, length }));
        }
        match header(headers, "transfer-encoding") {
            Some(b"chunked") => Self::chunks(bytes),
            _ => Err("neither content-length nor chunked".into()),
        }
    }

    fn chunks(bytes: &'a [u8]) -> Result<Option<Self>, String> {
        let mut body = Vec::new();
        let mut length = 0;
        loop {
            let parsed = httparse::parse_chunk_size(&bytes[length..]);
            let Status::Complete((head, size)) = parsed.map_err(|_| "no chunk size")? else {
                return Ok(None);
            };
            let start = length + head;
            let end = start + size as usize;
            // Each chunk, the last and empty one too, ends with CR LF.
            length = end + 2;
            if bytes.len() < length {
                return Ok(None);
            }
            if size == 0 {
                let body = Cow::Owned(body);
                return Ok(Some(Self { body, length }));
            }
            body.extend_from_slice(&bytes[start..end]);
        }
    }
}

fn header<'h>(headers: &[Header<'h>], name: &str) -> Option<&'h [u8]> {
    headers
        .iter()
        .find(|header| header.name.eq_ignore_ascii_case(name))
        .map(|header| header.value)
}

fn event_data(stream: &[u8]) -> Vec<u8> {
    stream
        .split(|&byte| byte == b'\n')
        .filter_map(|line| line.strip_prefix(b"data:"))
        .flatten()
        .copied()
        .collect()
}

/// Whether `text` is somewhere in `body`.
pub(crate) fn contains(body: &[u8], text: &str) -> bool {
    memmem::find(body, text.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body_of(bytes: &str) -> Option<String> {
        let answer = Answer::read(bytes.as_bytes()).unwrap()?;
        assert_eq!(answer.length, bytes.len());
        Some(String::from_utf8(answer.body.into_owned()).unwrap())
    }

    #[test]
    fn reads_a_counted_body_once_it_is_complete() {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(body_of(&whole[..whole.len() - 1]), None);
        assert_eq!(body_of(whole).as_deref(), Some("abc"));
    }

    #[test]
    fn joins_chunks() {
        let whole =
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
        for end in 0..whole.len() {
            assert_eq!(body_of(&whole[..end]), None);
        }
        assert_eq!(body_of(whole).as_deref(), Some("abc"));
    }

    #[test]
    fn takes_the_data_of_an_event_stream() {
        let whole = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 24\r\n\r\n\
                     event: message\ndata:{}\n\n";
        assert_eq!(body_of(whole).as_deref(), Some("{}"));
    }

    #[test]
    fn refuses_another_status() {
        let fault = Answer::read(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno");
        assert_eq!(fault.err().as_deref(), Some("status Some(404): no"));
    }
}
