//! Bytes on their way to a peer, with their share of `max_buffered_bytes` until they are written.

use bytes::Bytes;
use mcp_driver::Reservation;

struct HeldBytes {
    bytes: Vec<u8>,
    _room: Reservation,
}

/// The bytes; what is reserved for them is given back with the last of them.
pub(crate) fn held_bytes(bytes: Vec<u8>, room: Reservation) -> Bytes {
    Bytes::from_owner(HeldBytes { bytes, _room: room })
}

impl AsRef<[u8]> for HeldBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use mcp_driver::Buffers;

    use super::*;

    #[test]
    fn gives_back_its_share_with_the_last_byte() {
        let buffers = Buffers::new(10);
        let mut room = buffers.reserve();
        assert!(room.grow(4));
        let mut bytes = held_bytes(b"four".to_vec(), room);
        let rest = bytes.split_off(2);
        drop(bytes);
        assert_eq!((buffers.held(), &rest[..]), (4, &b"ur"[..]));
        drop(rest);
        assert_eq!(buffers.held(), 0);
    }
}
