//! Taking over descriptors that the process was started with.

use std::{
    collections::BTreeSet,
    fs::File,
    io,
    os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd},
    sync::{Mutex, PoisonError},
};

use rustix::{
    io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd},
    stdio,
};

/// Takes over descriptor `number`, so that it is closed with what is returned and no child process inherits it.
///
/// 0 and 1 are moved: from then on the process reads nothing from 0, and what it prints to 1 goes to standard error.
/// Any other number must be one that a launcher opened for this purpose and that nothing else in the process uses;
/// each can be taken once.
///
/// # Errors
/// When the number stands for standard error or for no open descriptor, or was taken before.
pub fn adopt(number: RawFd) -> io::Result<OwnedFd> {
    match number {
        0 => {
            let input = fcntl_dupfd_cloexec(stdio::stdin(), FIRST_FREE)?;
            stdio::dup2_stdin(File::open("/dev/null")?)?;
            Ok(input)
        }
        1 => {
            let output = fcntl_dupfd_cloexec(stdio::stdout(), FIRST_FREE)?;
            stdio::dup2_stdout(stdio::stderr())?;
            Ok(output)
        }
        FIRST_FREE.. => inherited(number),
        _ => Err(refuse(format!(
            "descriptor {number} cannot carry messages; use 0, 1, or 3 and up"
        ))),
    }
}

/// The first number after the standard streams.
const FIRST_FREE: RawFd = 3;

/// The one exception from the ban on unsafe code (D3): the number of an inherited descriptor becomes its owner.
#[allow(unsafe_code)]
fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    static TAKEN: Mutex<BTreeSet<RawFd>> = Mutex::new(BTreeSet::new());
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the number is not -1, and the borrow ends with the call, which fails on a number that is not open.
    let open = fcntl_setfd(unsafe { BorrowedFd::borrow_raw(number) }, FdFlags::CLOEXEC);
    open.map_err(|_| {
        refuse(format!(
            "descriptor {number} is not open; the launcher must open it"
        ))
    })?;
    if !taken.insert(number) {
        return Err(refuse(format!(
            "descriptor {number} is in use by another pipe"
        )));
    }
    // SAFETY: open, as just seen; its owner so far is the launcher, which handed it to this process by number; taken
    // at most once, as the set shows.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

fn refuse(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

#[cfg(test)]
mod tests {
    use std::os::fd::IntoRawFd;

    use super::*;

    #[test]
    fn takes_an_open_descriptor_once() {
        let (reader, _writer) = io::pipe().unwrap();
        let number = OwnedFd::from(reader).into_raw_fd();
        let adopted = adopt(number).unwrap();
        assert!(
            adopt(number)
                .unwrap_err()
                .to_string()
                .contains("another pipe")
        );
        drop(adopted);
    }

    #[test]
    fn refuses_numbers_that_are_not_open() {
        assert!(
            adopt(9_999)
                .unwrap_err()
                .to_string()
                .contains("9999 is not open")
        );
    }

    #[test]
    fn refuses_numbers_that_cannot_be_meant() {
        for number in [-1, 2, RawFd::MIN] {
            assert!(
                adopt(number)
                    .unwrap_err()
                    .to_string()
                    .contains(&number.to_string())
            );
        }
    }
}
