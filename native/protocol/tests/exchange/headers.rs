//! Headers through a whole exchange: HDR-*, HTTP-40, A-11 to A-14, A-35, and the trials of headers.

use serde_json::{Value, json};

use crate::harness::{Post, Reply, Server, call, legacy, modern, modern_meta};

fn list() -> Post {
    Post::request("tools/list")
}

fn echo() -> Post {
    Post::modern(&call("echo", json!({"text": "hi"})))
}

/// A call of `route`, whose arguments `region` and `limit` are mirrored.
fn route(arguments: Value) -> Post {
    Post::modern(&call("route", arguments))
}

fn serve(post: &Post) -> Reply {
    Server::new().post(post)
}

fn assert_served(post: &Post) {
    let reply = serve(post);
    assert_eq!(
        (reply.answer.status, reply.code()),
        (200, None),
        "{post:?}\n{}",
        reply.message()
    );
}

fn assert_mismatch(post: &Post) {
    let reply = serve(post);
    assert_eq!(
        reply.refusal(),
        (400, Some(-32020), Some(json!(1))),
        "{post:?}"
    );
    assert!(!reply.called() && reply.keeps());
}

#[test]
fn hdr1_to_hdr4_the_standard_headers_are_required() {
    for name in ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"] {
        assert_mismatch(&echo().without(name));
        assert_mismatch(&echo().set(name, ""));
        assert_mismatch(&echo().set(name, "other"));
        assert_mismatch(&echo().set(name, b"\xff"));
    }
}

#[test]
fn hdr6_names_compare_without_case_and_values_with_it() {
    assert_served(&echo().without("Mcp-Name").also("MCP-NAME", "echo"));
    assert_mismatch(&echo().set("Mcp-Name", "Echo"));
    assert_mismatch(&list().set("Mcp-Method", "TOOLS/LIST"));
}

#[test]
fn x34_white_space_around_values_is_dropped() {
    assert_served(&list().set("Mcp-Method", " \t tools/list \t"));
    assert_served(&echo().set("Mcp-Name", "  echo "));
    assert_served(&list().set("MCP-Protocol-Version", "\t2026-07-28"));
}

#[test]
fn g09_a13_a_repeated_header_is_refused_even_when_its_values_agree() {
    assert_mismatch(&list().also("Mcp-Method", "tools/list"));
    assert_mismatch(&list().also("Mcp-Method", "tools/call"));
    assert_mismatch(&echo().also("mcp-name", "echo"));
    assert_mismatch(&list().also("MCP-Protocol-Version", "2026-07-28"));
    assert_mismatch(
        &route(json!({"region": "eu"}))
            .also("Mcp-Param-Region", "eu")
            .also("mcp-param-REGION", "eu"),
    );
}

#[test]
fn hdr10_a_name_without_a_source_is_ignored() {
    assert_served(&list().set("Mcp-Name", "anything"));
    assert_served(&Post::request("server/discover").set("Mcp-Name", "anything"));
}

#[test]
fn hdr20_to_hdr25_the_base64_form() {
    for encoded in ["=?base64?ZWNobw==?=", " =?base64?ZWNobw==?= "] {
        assert_served(&echo().set("Mcp-Name", encoded));
    }
    for wrong in [
        "=?base64?ZWNobw?=",
        "=?base64?ZWN!bw==?=",
        "=?BASE64?ZWNobw==?=",
        "=?base64?ZWNobw==",
        "=?base64?/w==?=",
    ] {
        assert_mismatch(&echo().set("Mcp-Name", wrong));
    }
    for (value, header) in [
        ("Zürich", "=?base64?WsO8cmljaA==?="),
        (" eu", "=?base64?IGV1?="),
        ("", ""),
        ("", "=?base64??="),
        ("=?base64?=", "=?base64?="),
        ("a b\tc", "a b\tc"),
    ] {
        assert_served(&route(json!({"region": value})).set("Mcp-Param-Region", header));
    }
    assert_mismatch(&route(json!({"region": "Zürich"})).set("Mcp-Param-Region", "Zürich"));
}

#[test]
fn hdr27_version_and_method_have_no_base64_form() {
    assert_mismatch(&list().set("Mcp-Method", "=?base64?dG9vbHMvbGlzdA==?="));
    assert_mismatch(&list().set("MCP-Protocol-Version", "=?base64?MjAyNi0wNy0yOA==?="));
}

#[test]
fn hdr49_a_mirrored_argument_needs_its_header() {
    assert_served(&route(json!({"region": "eu"})).set("Mcp-Param-Region", "eu"));
    assert_mismatch(&route(json!({"region": "eu"})));
    assert_mismatch(&route(json!({"region": "eu"})).set("Mcp-Param-Region", "us"));
    assert_mismatch(&route(json!({"region": "eu", "limit": 1})).set("Mcp-Param-Region", "eu"));
}

#[test]
fn a14_a_header_without_its_argument_is_refused() {
    let routed = |arguments| route(arguments).set("Mcp-Param-Region", "eu");
    assert_mismatch(&routed(json!({})));
    assert_mismatch(&routed(json!({"region": null})));
    assert_mismatch(&routed(json!({"region": "eu"})).set("Mcp-Param-Limit", "1"));
}

#[test]
fn hdr51_integers_compare_by_value() {
    let limited = |limit: Value, header: &str| {
        route(json!({"region": "eu", "limit": limit}))
            .set("Mcp-Param-Region", "eu")
            .set("Mcp-Param-Limit", header)
    };
    for (limit, header) in [
        (json!(42), "42"),
        (json!(42), "42.0"),
        (json!(-7), "-7"),
        (json!(9_007_199_254_740_991_i64), "9007199254740991"),
    ] {
        assert_served(&limited(limit, header));
    }
    for header in ["43", "0x2a", "4.2e1", "+42", "42.", "", "=?base64?NDM=?="] {
        assert_mismatch(&limited(json!(42), header));
    }
}

#[test]
fn a35_an_argument_that_no_header_can_carry_is_left_to_the_schema() {
    for region in [
        json!(["eu"]),
        json!({"in": "eu"}),
        json!(1.5),
        json!(9_007_199_254_740_993_i64),
    ] {
        let reply = serve(&route(json!({"region": region})));
        assert_eq!(
            (reply.answer.status, reply.result()["isError"].take()),
            (200, json!(true)),
            "{region}"
        );
        assert_mismatch(&route(json!({"region": region})).set("Mcp-Param-Region", "eu"));
    }
}

#[test]
fn hdr53_headers_that_nothing_is_bound_to_are_ignored() {
    assert_served(
        &echo()
            .set("Mcp-Param-Region", "anywhere")
            .also("Mcp-Param-Region", "twice"),
    );
    assert_served(&list().set("Mcp-Param-Region", "anywhere"));
}

#[test]
fn hdr56_param_headers_are_for_modern_http_alone() {
    let arguments = json!({"region": "eu"});
    assert_eq!(
        Server::new().line(&call("route", arguments.clone())).text(),
        "done"
    );
    let mut claimed = legacy(
        "tools/call",
        json!({"name": "route", "arguments": arguments}),
    );
    claimed["params"]["_meta"] = json!({crate::harness::META[0]: "2025-11-25"});
    let reply = serve(&Post::plain(&claimed).set("Mcp-Param-Region", "us"));
    assert_eq!(reply.text(), "done");
}

#[test]
fn http40_session_and_event_headers_mean_nothing_to_a_modern_request() {
    let post = echo()
        .set("Mcp-Session-Id", "unknown")
        .set("Last-Event-ID", "7");
    let reply = serve(&post);
    assert_eq!(reply.text(), "done");
    assert!(reply.header("mcp-session-id").is_none());
    assert_eq!(reply.asked, ["body 1048576", r#"call echo {"text":"hi"}"#]);
}

#[test]
fn x01_g08_content_types_are_compared_as_a_whole() {
    for good in [
        "Application/JSON ; charset=\"utf-8\"",
        "application/json;charset=UTF-8",
        "application/json; a=b",
    ] {
        assert_served(&list().set("Content-Type", good));
    }
    for bad in [
        "text/plain; a=application/json",
        "application/json-seq",
        "application/json; charset=latin1",
        "",
        "json",
    ] {
        let reply = serve(&list().set("Content-Type", bad));
        assert_eq!(reply.refusal(), (415, Some(-32600), None), "{bad}");
        assert!(!reply.keeps());
    }
    assert_eq!(serve(&list().without("Content-Type")).answer.status, 415);
    assert_eq!(
        serve(&list().also("Content-Type", "application/json"))
            .answer
            .status,
        415
    );
}

#[test]
fn a11_g07_accept_decides_the_form_of_a_result() {
    for (accept, form) in [
        (
            Some("application/json, text/event-stream"),
            "application/json",
        ),
        (Some("*/*"), "application/json"),
        (Some("application/*, text/*;q=0.5"), "application/json"),
        (Some("application/json"), "application/json"),
        (
            Some("text/event-stream, application/json;q=0"),
            "text/event-stream",
        ),
        (Some("text/event-stream"), "text/event-stream"),
        (None, "application/json"),
    ] {
        let post = match accept {
            Some(accept) => list().set("Accept", accept),
            None => list().without("Accept"),
        };
        let reply = serve(&post);
        assert_eq!(
            (reply.answer.status, reply.answer.content_type),
            (200, form),
            "{accept:?}"
        );
    }
    for accept in [
        "text/html",
        "application/json;q=0, text/event-stream;q=0",
        "application/xml, text/plain",
    ] {
        let reply = serve(&list().set("Accept", accept));
        assert_eq!(reply.refusal(), (406, Some(-32600), None), "{accept}");
    }
}

#[test]
fn d17_a_client_that_reads_event_streams_only_gets_one_event() {
    let reply = serve(&echo().set("Accept", "text/event-stream"));
    let body = String::from_utf8(reply.answer.body.clone()).unwrap();
    let data = body
        .strip_prefix("event: message\ndata: ")
        .and_then(|rest| rest.strip_suffix("\n\n"))
        .unwrap();
    let message: Value = serde_json::from_str(data).unwrap();
    assert_eq!(message["result"]["content"][0]["text"], json!("done"));
    assert_eq!(reply.header("x-accel-buffering"), Some("no"));
    assert_eq!(
        reply.header("cache-control"),
        Some("no-cache, no-transform")
    );
}

#[test]
fn http27_refusals_stay_json_whatever_is_accepted() {
    let post = Post::request("none").set("Accept", "text/event-stream");
    let reply = serve(&post);
    assert_eq!(reply.refusal(), (404, Some(-32601), Some(json!(1))));
    assert_eq!(reply.answer.content_type, "application/json");
}

#[test]
fn b17_answers_to_an_allowed_origin_say_so() {
    let from = |origin: &str, post: Post| serve(&post.set("Origin", origin));
    for reply in [
        from("https://app.example", list()),
        from("https://app.example", Post::request("none")),
    ] {
        assert_eq!(
            reply.header("access-control-allow-origin"),
            Some("https://app.example")
        );
        assert_eq!(reply.header("vary"), Some("Origin"));
    }
    assert!(
        serve(&list())
            .header("access-control-allow-origin")
            .is_none()
    );
    assert!(
        from("http://evil.example", list())
            .header("access-control-allow-origin")
            .is_none()
    );
}

#[test]
fn g18_a_preflight_is_answered_without_authentication() {
    let mut server = Server::new().at(|endpoint| endpoint.authorize = true);
    let preflight = Post::plain(&Value::Null)
        .verb("OPTIONS")
        .set("Origin", "https://app.example")
        .set("Access-Control-Request-Method", "POST")
        .set(
            "Access-Control-Request-Headers",
            "authorization,content-type,mcp-protocol-version,mcp-method,mcp-name,mcp-param-region",
        );
    let reply = server.post(&preflight);
    assert_eq!((reply.answer.status, reply.asked.len()), (204, 0));
    assert!(reply.is_silent() && reply.keeps());
    let allowed = reply.header("access-control-allow-headers").unwrap();
    for name in [
        "authorization",
        "content-type",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "mcp-param-region",
    ] {
        assert!(
            allowed.split(", ").any(|it| it == name),
            "{name} in {allowed}"
        );
    }
    assert!(reply.header("access-control-allow-credentials").is_none());
    assert_eq!(
        server
            .post(&preflight.set("Origin", "http://evil.example"))
            .answer
            .status,
        403
    );
}

#[test]
fn g19_the_path_is_served_with_and_without_a_slash() {
    assert_served(&list().target("/mcp/"));
    assert_served(&list().target("/mcp?a=b"));
    let reply = serve(&list().target("/"));
    assert_eq!((reply.answer.status, reply.keeps()), (404, false));
}

#[test]
fn hdr9_the_body_decides_what_is_called() {
    let mut message = modern("tools/list", json!({}));
    message["params"]["_meta"] = modern_meta();
    let reply = serve(
        &Post::modern(&message)
            .set("Mcp-Method", "tools/call")
            .set("Mcp-Name", "echo"),
    );
    assert!(!reply.called());
    assert_eq!(reply.code(), Some(-32020));
}
