//! Golden transcripts: input lines, the questions they lead to, what the world says, and the answers.
//!
//! ```text
//! # a remark
//! > {"jsonrpc":"2.0",...}       a line of the pipe starts exchange 1, the next one exchange 2, and so on
//! > POST Name: value; ...       a request by HTTP does too; `| {...}` below it is its body
//! ? call echo {"text":"hi"}     what the exchange asks; see `describe`
//! ! text hi                     what comes of it; see `input`
//! < {"jsonrpc":"2.0",...}       the answer; `< nothing` when no message is sent
//! < 404 name: value             the answer's status and headers by HTTP; `| {...}` below it is its body
//! + 500                         half a second passes
//! ```
//!
//! A number after the sign names the exchange, as in `!1 text hi`; without one it is the newest. Between the
//! messages, `$meta` stands for the `_meta` of a modern request, `$info` for the server's identity in a result's, and
//! `$icons` for the icons of definitions.

use mcp_protocol::{
    Authorized, Body, CallOutcome, Input, Line, Principal, SessionAnswer, Step, Unanswered,
};
use serde_json::Value;

use super::{
    MAX_CALLS, Pending, Post, Reply, Server, differences, fixture, identity, modern_meta, offers,
};

/// Plays a transcript against a server.
///
/// # Panics
/// At the first line that does not come true, naming it.
pub fn play(server: &mut Server, transcript: &str) {
    let mut player = Player {
        server,
        exchanges: Vec::new(),
    };
    let lines: Vec<&str> = transcript.lines().map(str::trim).collect();
    for (position, line) in lines.iter().enumerate() {
        let body = lines
            .get(position + 1)
            .and_then(|next| next.strip_prefix('|'));
        let place = format!("line {}: {line}", position + 1);
        player.play(line, body.map(expand), &place);
    }
}

struct Player<'a> {
    server: &'a mut Server,
    /// Exchange 1 first; over when taken.
    exchanges: Vec<Option<Pending>>,
}

impl Player<'_> {
    fn play(&mut self, line: &str, body: Option<String>, place: &str) {
        let Some((sign, rest)) = line.split_at_checked(1) else {
            return;
        };
        match sign {
            "#" | "|" => (),
            "+" => self.server.wait(rest.trim().parse().expect(place)),
            ">" => self.start(rest.trim(), body),
            "?" | "!" | "<" => {
                let (number, rest) = self.numbered(rest, place);
                self.go_on(sign, number, rest, body, place);
            }
            _ => panic!("{place}: unknown sign"),
        }
    }

    fn start(&mut self, message: &str, body: Option<String>) {
        let pending = match message.strip_prefix("POST") {
            Some(headers) => self.request("POST", headers, body),
            None => match message.strip_prefix("DELETE") {
                Some(headers) => self.request("DELETE", headers, body),
                None => self.server.begin_line(Line::Whole(expand(message).into())),
            },
        };
        self.exchanges.push(Some(pending));
    }

    fn request(&mut self, verb: &str, headers: &str, body: Option<String>) -> Pending {
        let headers = headers
            .split(';')
            .filter_map(|header| header.split_once(':'));
        let post = headers.fold(
            Post::plain(&Value::Null).verb(verb),
            |post, (name, value)| post.set(name.trim(), value.trim()),
        );
        self.server.begin(&post.body(body.unwrap_or_default()))
    }

    fn go_on(&mut self, sign: &str, number: usize, rest: &str, body: Option<String>, place: &str) {
        let slot = self.exchanges.get_mut(number - 1).expect(place);
        let mut pending = slot
            .take()
            .unwrap_or_else(|| panic!("{place}: exchange {number} is over"));
        if sign != "!" {
            pending = read_body(pending, self.server);
        }
        match sign {
            "?" => assert_eq!(pending.question(), Some(rest), "{place}"),
            "!" => pending = pending.feed(self.server.now, input(rest, place)),
            _ => return check(&pending.reply(), rest, body, place),
        }
        *slot = Some(pending);
    }

    fn numbered<'l>(&self, rest: &'l str, place: &str) -> (usize, &'l str) {
        let digits = rest.find(' ').unwrap_or(rest.len());
        let (number, rest) = rest.split_at(digits);
        match number {
            "" => (self.exchanges.len(), rest.trim()),
            number => (number.parse().expect(place), rest.trim()),
        }
    }
}

/// The body is on its way already: no transcript has to bring it.
fn read_body(pending: Pending, server: &mut Server) -> Pending {
    match &pending.step {
        Step::ReadBody { .. } => {
            let input = server.world.read(pending.body());
            pending.feed(server.now, input)
        }
        _ => pending,
    }
}

/// What the world says.
fn input(words: &str, place: &str) -> Input {
    let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
    match word {
        "done" => Input::Done,
        "text" => fixture::text(rest),
        "structured" => fixture::structured(&serde_json::from_str(rest).expect(place)),
        "contents" => offers::contents(rest),
        "blob" => offers::pieces(vec![offers::piece(Body::Blob(offers::json_text(rest)))]),
        "message" => offers::message(rest),
        "values" => offers::values(&rest.split(' ').collect::<Vec<_>>()),
        "not" => offers::not_found(),
        "safe" => offers::safe_error(rest, None),
        "failed" => Input::Outcome(CallOutcome::Failed),
        "unanswered" => Input::Unanswered(unanswered(rest, place)),
        "accept" => Input::Authorized(Authorized::Accept(named(rest).map(identity))),
        "deny" => Input::Authorized(Authorized::Deny),
        "challenge" => Input::Authorized(Authorized::Challenge(rest.into())),
        "created" => Input::Session(SessionAnswer::Created(rest.into())),
        "found" => {
            let owner = named(rest).map(|name| Principal::new(name.as_bytes()));
            Input::Session(SessionAnswer::Found(fixture::session(owner)))
        }
        "deleted" => Input::Session(SessionAnswer::Deleted),
        "unknown" => Input::Session(SessionAnswer::Unknown),
        "full" => Input::Session(SessionAnswer::Full),
        _ => panic!("{place}: unknown input"),
    }
}

fn unanswered(word: &str, place: &str) -> Unanswered {
    match word {
        "deadline" => Unanswered::Deadline,
        "failed" => Unanswered::Failed,
        "busy" => Unanswered::Busy(MAX_CALLS),
        "principal busy" => Unanswered::PrincipalBusy(MAX_CALLS),
        "draining" => Unanswered::Draining,
        "duplicate id" => Unanswered::DuplicateId,
        "cancelled" => Unanswered::Cancelled,
        _ => panic!("{place}: unknown reason"),
    }
}

fn named(name: &str) -> Option<&str> {
    (!name.is_empty()).then_some(name)
}

fn check(reply: &Reply, expected: &str, body: Option<String>, place: &str) {
    match expected.as_bytes().first() {
        Some(b'{') => check_message(reply, Some(expand(expected)), place),
        Some(b'1'..=b'9') => {
            check_head(reply, expected, place);
            check_message(reply, body, place);
        }
        _ => assert_eq!(
            (expected, reply.is_silent()),
            ("nothing", true),
            "{place}: {:?}",
            reply.json()
        ),
    }
}

fn check_head(reply: &Reply, expected: &str, place: &str) {
    let (status, headers) = expected.split_once(' ').unwrap_or((expected, ""));
    assert_eq!(
        reply.answer.status.to_string(),
        status,
        "{place}: {:?}",
        reply.json()
    );
    for (name, value) in headers
        .split(';')
        .filter_map(|header| header.split_once(':'))
    {
        assert_eq!(reply.header(name.trim()), Some(value.trim()), "{place}");
    }
}

fn check_message(reply: &Reply, expected: Option<String>, place: &str) {
    let expected = expected.map_or(Value::Null, |text| {
        serde_json::from_str(&text).expect(place)
    });
    let found = differences(&expected, &reply.json());
    assert!(
        found.is_empty(),
        "{place}\n{}\n{}",
        found.join("\n"),
        reply.json()
    );
}

fn expand(text: &str) -> String {
    let info =
        r#"{"io.modelcontextprotocol/serverInfo":{"name":"ExampleServer","version":"1.0.0"}}"#;
    text.trim()
        .replace("$meta", &modern_meta().to_string())
        .replace("$info", info)
        .replace("$icons", &offers::icons().to_string())
}
