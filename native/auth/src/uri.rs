//! Two spellings of one URI (RFC 9449 §4.3: syntax-based and scheme-based normalization, RFC 3986 §6.2.2, §6.2.3).

/// Scheme, authority and path in one spelling; query and fragment are not part of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Uri {
    secure: bool,
    host: String,
    port: u16,
    path: String,
}

impl Uri {
    /// Reads an http or https URI; none for another scheme, without a host, and with user information.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let secure = scheme.eq_ignore_ascii_case("https");
        if !secure && !scheme.eq_ignore_ascii_case("http") {
            return None;
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let (host, port) = split_authority(authority)?;
        let port = match port {
            "" => default_port(secure),
            digits => digits.parse().ok()?,
        };
        Some(Self {
            secure,
            host: host.to_ascii_lowercase(),
            port,
            path: normal_path(rest),
        })
    }

    /// The same origin with the path of a request target.
    pub(crate) fn with_target(&self, target: &str) -> Self {
        Self {
            path: normal_path(target),
            ..self.clone()
        }
    }
}

/// Host and port of an authority, the latter without its colon. None with user information or without a host.
pub(crate) fn split_authority(authority: &str) -> Option<(&str, &str)> {
    if authority.contains('@') {
        return None;
    }
    let after_address = authority.rfind(']').map_or(0, |at| at + 1);
    let (host, port) = match authority[after_address..].find(':') {
        Some(colon) => {
            let (host, port) = authority.split_at(after_address + colon);
            (host, &port[1..])
        }
        None => (authority, ""),
    };
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    (!host.is_empty() && digits).then_some((host, port))
}

fn default_port(secure: bool) -> u16 {
    match secure {
        true => 443,
        false => 80,
    }
}

/// The path of what follows an authority. Escapes that need not be are undone, the others have capital digits.
fn normal_path(rest: &str) -> String {
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let mut path = String::with_capacity(end.max(1));
    let mut left = &rest[..end];
    while let Some(at) = left.find('%') {
        let (plain, escape) = left.split_at(at);
        path.push_str(plain);
        let octet = escape.get(1..3).and_then(hex_octet);
        left = match octet {
            Some(octet) if is_unreserved(octet) => {
                path.push(char::from(octet));
                &escape[3..]
            }
            Some(_) => {
                path.push_str(&escape[..3].to_ascii_uppercase());
                &escape[3..]
            }
            None => {
                path.push('%');
                &escape[1..]
            }
        };
    }
    path.push_str(left);
    if path.is_empty() {
        path.push('/');
    }
    path
}

/// `from_str_radix` alone would take a sign for a digit.
fn hex_octet(digits: &str) -> Option<u8> {
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)
}

fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &str, other: &str) -> bool {
        let [one, other] = [one, other].map(|text| Uri::parse(text).unwrap());
        one == other
    }

    #[test]
    fn spellings_of_one_uri_are_equal() {
        for other in [
            "HTTPS://A.example:443/m%7Ecp?x=1#y",
            "https://a.example/m~cp",
            "https://a.example:/%6d~cp",
        ] {
            assert!(same("https://a.example/m~cp", other), "{other}");
        }
        assert!(same("http://[::1]:80", "http://[::1]/"));
        assert!(same("https://a/%2f", "https://a/%2F"));
        assert!(same("https://a/%", "https://a/%"));
    }

    #[test]
    fn other_uris_are_not() {
        for other in [
            "http://a.example/m",
            "https://a.example:8443/m",
            "https://b.example/m",
            "https://a.example/M",
            "https://a.example/m/",
            "https://a.example/m%2F",
        ] {
            assert!(!same("https://a.example/m", other), "{other}");
        }
    }

    #[test]
    fn what_is_no_web_address_is_nothing() {
        for text in [
            "",
            "/m",
            "ftp://a/m",
            "https:///m",
            "https://u@a/m",
            "https://a:x/m",
            "https://a:99999/m",
            "https://:443/m",
        ] {
            assert_eq!(Uri::parse(text), None, "{text}");
        }
    }
}
