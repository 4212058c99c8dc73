//! Whether a text is a URI (RFC 3986 §3): what resources are named by.

/// The longest URI.
pub(crate) const MAX_BYTES: usize = 4_096;

/// Checks a URI; an error says what is wrong in one sentence.
pub(crate) fn check(uri: &str) -> Result<(), String> {
    if uri.len() > MAX_BYTES {
        return Err(format!("takes {} bytes: at most {MAX_BYTES}", uri.len()));
    }
    let Some((scheme, rest)) = uri.split_once(':') else {
        return Err("must be an absolute URI: a scheme, a colon, and what it names".into());
    };
    if !is_scheme(scheme) {
        return Err(format!(
            "has the scheme {scheme:?}: it must be a letter and then letters, digits, + - or ."
        ));
    }
    match rest.bytes().position(|byte| !is_allowed(byte)) {
        Some(at) => Err(format!(
            "has a character at byte {} that a URI cannot hold: percent-encode it",
            scheme.len() + 1 + at
        )),
        None if !escapes_are_whole(rest) => {
            Err("has a % that two hexadecimal digits do not follow".into())
        }
        None => Ok(()),
    }
}

fn is_scheme(scheme: &str) -> bool {
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Unreserved and reserved characters, and the sign of an escape (RFC 3986 §2).
fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte)
}

fn escapes_are_whole(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let digits = after.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_uris_pass() {
        for uri in [
            "file:///a/b.txt",
            "test://static-text",
            "https://example.com/a?b=c#d",
            "urn:isbn:0451450523",
            "a+b-c.d:x",
            "x:",
            "x:%2f",
        ] {
            assert_eq!(check(uri), Ok(()), "{uri}");
        }
    }

    #[test]
    fn others_are_told_what_is_wrong() {
        let long = format!("x:{}", "a".repeat(MAX_BYTES));
        for (uri, why) in [
            ("", "absolute"),
            ("a/b", "absolute"),
            ("1x:a", "scheme"),
            (":a", "scheme"),
            ("x:a b", "byte 3"),
            ("x:\u{e9}", "byte 2"),
            ("x:%2", "%"),
            ("x:%zz", "%"),
            (&long, "at most"),
        ] {
            assert!(check(uri).is_err_and(|fault| fault.contains(why)), "{uri}");
        }
    }
}
