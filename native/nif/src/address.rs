//! Socket addresses as terms: `{ip_tuple, port}`.

use std::net::{IpAddr, SocketAddr};

use rustler::{
    Encoder, Env, Term,
    types::tuple::{get_tuple, make_tuple},
};

/// `{ip_tuple, port}`
pub(crate) fn encode(env: Env<'_>, address: SocketAddr) -> Term<'_> {
    (ip(env, address.ip()), address.port()).encode(env)
}

/// `{a, b, c, d}` or `{a, b, c, d, e, f, g, h}`
pub(crate) fn ip(env: Env<'_>, address: IpAddr) -> Term<'_> {
    let parts: Vec<Term<'_>> = match address {
        IpAddr::V4(address) => address
            .octets()
            .iter()
            .map(|part| part.encode(env))
            .collect(),
        IpAddr::V6(address) => address
            .segments()
            .iter()
            .map(|part| part.encode(env))
            .collect(),
    };
    make_tuple(env, &parts)
}

/// Reads an address tuple; `None` for what is none.
pub(crate) fn read_ip(term: Term<'_>) -> Option<IpAddr> {
    let parts: Vec<u16> = get_tuple(term)
        .ok()?
        .into_iter()
        .map(|part| part.decode().ok())
        .collect::<Option<_>>()?;
    if let Ok(segments) = <[u16; 8]>::try_from(parts.as_slice()) {
        return Some(IpAddr::from(segments));
    }
    let octets: Vec<u8> = parts
        .into_iter()
        .map(|part| u8::try_from(part).ok())
        .collect::<Option<_>>()?;
    <[u8; 4]>::try_from(octets).ok().map(IpAddr::from)
}
