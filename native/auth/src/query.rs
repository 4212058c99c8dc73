//! Access tokens where they must not be (RFC 6750 §2.3; MCP 2026-07-28 basic/authorization, "Token Requirements").

/// Whether a query of `target` has a parameter that decodes to the name `access_token`.
pub(crate) fn holds_access_token(target: &str) -> bool {
    let Some((_, query)) = target.split_once('?') else {
        return false;
    };
    query.split(['&', ';']).any(|parameter| {
        let name = parameter.split('=').next().unwrap_or_default();
        decodes_to(name.as_bytes(), b"access_token")
    })
}

fn decodes_to(mut text: &[u8], mut wanted: &[u8]) -> bool {
    while let Some((octet, rest)) = next(text) {
        match wanted.split_first() {
            Some((first, others)) if *first == octet => (text, wanted) = (rest, others),
            _ => return false,
        }
    }
    wanted.is_empty()
}

fn next(text: &[u8]) -> Option<(u8, &[u8])> {
    match text {
        [b'%', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            Some((digit(*high) << 4 | digit(*low), rest))
        }
        [octet, rest @ ..] => Some((*octet, rest)),
        [] => None,
    }
}

/// The value of a hexadecimal digit.
fn digit(octet: u8) -> u8 {
    match octet {
        b'0'..=b'9' => octet - b'0',
        _ => (octet | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_name_in_every_spelling() {
        for target in [
            "/mcp?access_token=x",
            "/mcp?access_token",
            "/mcp?a=1&access_token=x",
            "/mcp?a=1;access%5ftoken=x",
            "/mcp?%61%63%63%65%73%73%5F%74%6F%6B%65%6E=x",
        ] {
            assert!(holds_access_token(target), "{target}");
        }
        for target in [
            "/mcp",
            "/access_token=x",
            "/mcp?a=access_token",
            "/mcp?access_tokens=1",
            "/mcp?access_toke%6=1",
        ] {
            assert!(!holds_access_token(target), "{target}");
        }
    }
}
