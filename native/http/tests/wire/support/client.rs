//! The client.

use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

use socket2::{Domain, Socket, Type};

/// One connection.
pub struct Client {
    stream: Stream,
    reader: BufReader<Stream>,
}

/// One answer, read by its `Content-Length`.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: String,
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).unwrap())
    }

    /// A client that takes few bytes before it has to read.
    pub fn connect_with_small_window(address: SocketAddr) -> Self {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
        socket.set_recv_buffer_size(4_096).unwrap();
        socket.connect(&address.into()).unwrap();
        Self::over(socket.into())
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            reader: BufReader::new(Stream::Tcp(stream.try_clone().unwrap())),
            stream: Stream::Tcp(stream),
        }
    }

    pub fn connect_unix(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            reader: BufReader::new(Stream::Unix(stream.try_clone().unwrap())),
            stream: Stream::Unix(stream),
        }
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.stream.write_all(bytes.as_ref()).unwrap();
        self
    }

    /// The same where the server may have closed already.
    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    /// Closes the sending side.
    pub fn finish(&mut self) -> &mut Self {
        match &self.stream {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Write).unwrap(),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Write).unwrap(),
        }
        self
    }

    /// The next answer; fails when the server closes instead.
    pub fn response(&mut self) -> Response {
        let head = self.head();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).unwrap();
        Response {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head,
            body: String::from_utf8(body).unwrap(),
        }
    }

    /// The next event of a chunked answer, without its end; `None` at the end of the answer.
    pub fn event(&mut self) -> Option<String> {
        let mut event = Vec::new();
        while !event.ends_with(b"\n\n") {
            let chunk = self.chunk();
            if chunk.is_empty() {
                assert!(event.is_empty(), "an event broke off");
                return None;
            }
            event.extend(chunk);
        }
        event.truncate(event.len() - 2);
        Some(String::from_utf8(event).unwrap())
    }

    fn chunk(&mut self) -> Vec<u8> {
        let mut size = String::new();
        assert_ne!(
            self.reader.read_line(&mut size).unwrap(),
            0,
            "closed in between"
        );
        let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        self.reader.read_exact(&mut chunk).unwrap();
        chunk.truncate(size);
        chunk
    }

    /// The next answer's status; `None` when the server closes instead.
    pub fn status(&mut self) -> Option<u16> {
        let closes = self.reader.fill_buf().map_or(true, <[u8]>::is_empty);
        (!closes).then(|| self.response().status)
    }

    /// The next head, interim ones included.
    pub fn head(&mut self) -> String {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = self.reader.read_line(&mut head).unwrap();
            assert_ne!(read, 0, "closed after {head:?}");
        }
        head
    }

    /// Whether the server closed without sending anything more.
    pub fn is_closed(&mut self) -> bool {
        self.rest().is_empty()
    }

    /// What the server still sends before it closes.
    pub fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        if let Err(error) = self.reader.read_to_end(&mut rest) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
        rest
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// How long an answer may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(5);
