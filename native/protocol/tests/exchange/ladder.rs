//! Table 0.7: the checks of a modern POST and their order, one defect at a time and two at once.
//!
//! Step 7 (era) has tests of its own in `versions`; step 16 comes with the first tool that needs a client's capability.

use mcp_protocol::{Authorized, BodyFault, CallOutcome, Input};
use serde_json::{Value, json};

use crate::harness::{META, Post, Reply, Server, call};

/// A request with nothing wrong, and what goes wrong with it at one step.
struct Defect {
    step: &'static str,
    /// Spoils the request or the world; the other defects of the ladder may have been there before.
    spoil: fn(&mut Server, Post) -> Post,
    status: u16,
    /// The error's code; `None` for a result with `isError`.
    code: Option<i64>,
    id: Option<i64>,
    /// Whether the connection lives: a refusal before the body was read ends it (D17).
    keeps: bool,
}

/// What becomes of a request that is wrong before its body is read: no id, and the connection ends.
const fn unread(step: &'static str, status: u16, spoil: fn(&mut Server, Post) -> Post) -> Defect {
    Defect {
        step,
        spoil,
        status,
        code: Some(-32600),
        id: None,
        keeps: false,
    }
}

/// What becomes of a request that was read.
const fn read(
    step: &'static str,
    status: u16,
    code: i64,
    spoil: fn(&mut Server, Post) -> Post,
) -> Defect {
    Defect {
        step,
        spoil,
        status,
        code: Some(code),
        id: Some(1),
        keeps: true,
    }
}

/// The ladder, top to bottom.
const LADDER: &[Defect] = &[
    unread("1 Host", 403, |_, post| post.set("Host", "evil.example")),
    unread("1 Origin", 403, |_, post| {
        post.set("Origin", "http://evil.example")
    }),
    unread("2 HTTP method", 405, |_, post| post.verb("PUT")),
    unread("3 authorize", 403, |server, post| {
        server.world.authorize = Box::new(|_| Input::Authorized(Authorized::Deny));
        post
    }),
    unread("4 Content-Type", 415, |_, post| {
        post.set("Content-Type", "text/plain")
    }),
    unread("4 Accept", 406, |_, post| post.set("Accept", "text/html")),
    unread("4 size", 413, |server, post| {
        server.world.body_fault = Some(BodyFault::TooLarge);
        post
    }),
    Defect {
        id: None,
        ..read("5 JSON", 400, -32700, |_, post| post.body("{\"id\":1,"))
    },
    read("6 shape", 400, -32600, |_, post| {
        post.edit(|message| message["jsonrpc"] = json!("1.0"))
    }),
    read("8 _meta", 400, -32602, |_, post| {
        post.edit(|message| message["params"]["_meta"][META[1]] = Value::Null)
    }),
    read("9 version header", 400, -32020, |_, post| {
        post.set("MCP-Protocol-Version", "2025-11-25")
    }),
    read("10 version", 400, -32022, |_, post| {
        post.set("MCP-Protocol-Version", "1900-01-01")
            .edit(|message| message["params"]["_meta"][META[0]] = json!("1900-01-01"))
    }),
    read("11 Mcp-Method", 400, -32020, |_, post| {
        post.set("Mcp-Method", "TOOLS/CALL")
    }),
    read("11 Mcp-Name", 400, -32020, |_, post| {
        post.without("Mcp-Name")
    }),
    read("12 method", 404, -32601, |_, post| {
        post.set("Mcp-Method", "tools/none")
            .edit(|message| message["method"] = json!("tools/none"))
    }),
    read("13 params", 200, -32602, |_, post| {
        post.edit(|message| message["params"]["arguments"] = json!([]))
    }),
    read("14 tool", 200, -32602, |_, post| {
        post.set("Mcp-Name", "none")
            .edit(|message| message["params"]["name"] = json!("none"))
    }),
    read("14 Mcp-Param", 400, -32020, |_, post| {
        post.set("Mcp-Param-Region", "elsewhere")
    }),
    read("15 logLevel", 200, -32602, |_, post| {
        post.edit(|message| {
            message["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("loud");
        })
    }),
    Defect {
        code: None,
        ..read("17 arguments", 200, 0, |_, post| {
            post.edit(|message| message["params"]["arguments"]["limit"] = json!("many"))
                .set("Mcp-Param-Limit", "many")
        })
    },
    Defect {
        code: None,
        ..read("18 handler", 200, 0, |server, post| {
            server.world.handler = Box::new(|_| Input::Outcome(CallOutcome::Failed));
            post
        })
    },
];

fn server() -> Server {
    Server::new().at(|endpoint| endpoint.authorize = true)
}

fn right() -> Post {
    Post::modern(&call("route", json!({"region": "eu"}))).set("Mcp-Param-Region", "eu")
}

fn check(defect: &Defect, reply: &Reply, with: &str) {
    let place = format!(
        "{} {with}: {}",
        defect.step,
        String::from_utf8_lossy(&reply.answer.body)
    );
    assert_eq!(reply.answer.status, defect.status, "{place}");
    assert_eq!(reply.code(), defect.code, "{place}");
    assert_eq!(
        reply.json().get("id").cloned(),
        defect.id.map(Value::from),
        "{place}"
    );
    assert_eq!(reply.keeps(), defect.keeps, "{place}");
    assert_eq!(
        reply.answer.summary.code.map(i64::from),
        defect.code,
        "{place}"
    );
    if defect.code.is_none() {
        assert_eq!(reply.result()["isError"], json!(true), "{place}");
    }
}

#[test]
fn a_right_request_passes_every_step() {
    let reply = server().post(&right());
    assert_eq!(
        reply.asked,
        ["authorize", "body 1048576", r#"call route {"region":"eu"}"#]
    );
    assert_eq!((reply.answer.status, reply.text()), (200, "done".into()));
    assert!(reply.keeps());
}

#[test]
fn each_step_refuses_what_it_is_for() {
    for defect in LADDER {
        let mut server = server();
        let post = (defect.spoil)(&mut server, right());
        check(defect, &server.post(&post), "alone");
    }
}

#[test]
fn of_two_defects_the_upper_one_decides() {
    for (position, upper) in LADDER.iter().enumerate() {
        for lower in &LADDER[position + 1..] {
            if (upper.step, lower.step) == ("11 Mcp-Name", "12 method") {
                continue; // An unknown method has no name that a header could mirror (HDR-10).
            }
            let mut server = server();
            let post = (lower.spoil)(&mut server, right());
            let post = (upper.spoil)(&mut server, post);
            check(upper, &server.post(&post), &format!("with {}", lower.step));
        }
    }
}

#[test]
fn nothing_is_asked_beyond_the_step_that_refuses() {
    for defect in LADDER {
        let mut server = server();
        let post = (defect.spoil)(&mut server, right());
        let reply = server.post(&post);
        let step: usize = defect
            .step
            .split(' ')
            .next()
            .and_then(|step| step.parse().ok())
            .unwrap();
        let asked = reply.asked.len();
        let expected = match step {
            1 | 2 => 0,
            3 => 1,
            4 if defect.status != 413 => 1,
            18 => 3,
            _ => 2,
        };
        assert_eq!(asked, expected, "{}: {:?}", defect.step, reply.asked);
    }
}

#[test]
fn refused_methods_are_told_what_is_allowed() {
    for (post, allow) in [
        (right().verb("GET"), "POST, OPTIONS"),
        (right().verb("DELETE"), "POST, OPTIONS"),
        (
            right().verb("PUT").without("MCP-Protocol-Version"),
            "POST, GET, DELETE, OPTIONS",
        ),
    ] {
        let reply = server().post(&post);
        assert_eq!(
            (reply.answer.status, reply.header("allow")),
            (405, Some(allow))
        );
    }
}

#[test]
fn the_order_holds_for_bodies_that_do_not_arrive() {
    for (fault, status, code) in [
        (BodyFault::TooLarge, 413, -32600),
        (BodyFault::Timeout { limit_ms: 30_000 }, 408, -32600),
        (BodyFault::NoRoom, 503, -31503),
        (BodyFault::Broken, 400, -32600),
    ] {
        let mut server = server();
        server.world.body_fault = Some(fault);
        let reply = server.post(&right());
        assert_eq!(reply.refusal(), (status, Some(code), None), "{fault:?}");
        assert!(!reply.keeps());
        assert_eq!(reply.header("retry-after").is_some(), status == 503);
    }
}
