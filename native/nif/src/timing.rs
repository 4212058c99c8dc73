//! CPU time that each function spends on the thread that runs it; measured in builds with the feature `timing` only.

use rustler::{Env, NifResult, Term};

/// Starts the measurement of `function`; it ends when the value is dropped.
#[must_use]
pub(crate) fn measure(function: &'static str) -> Measurement {
    Measurement::start(function)
}

/// `nif_times/0`: the longest run of each function since the last reset, in nanoseconds; `nil` without the feature.
#[rustler::nif]
fn nif_times(env: Env<'_>) -> NifResult<Term<'_>> {
    longest(env)
}

/// `nif_times_reset/0`
#[rustler::nif]
fn nif_times_reset() -> rustler::Atom {
    reset();
    rustler::types::atom::ok()
}

#[cfg(feature = "timing")]
pub(crate) use measured::Measurement;
#[cfg(feature = "timing")]
use measured::{longest, reset};
#[cfg(not(feature = "timing"))]
pub(crate) use unmeasured::Measurement;
#[cfg(not(feature = "timing"))]
use unmeasured::{longest, reset};

#[cfg(not(feature = "timing"))]
mod unmeasured {
    use rustler::{Encoder, Env, NifResult, Term, types::atom};

    pub(crate) struct Measurement;

    impl Measurement {
        pub(super) fn start(_function: &'static str) -> Self {
            Self
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "the measuring build can fail")]
    pub(super) fn longest(env: Env<'_>) -> NifResult<Term<'_>> {
        Ok(atom::nil().encode(env))
    }

    pub(super) fn reset() {}
}

#[cfg(feature = "timing")]
mod measured {
    use std::{
        collections::HashMap,
        sync::{LazyLock, Mutex, PoisonError},
    };

    use rustix::time::{ClockId, clock_gettime};
    use rustler::{Atom, Env, NifResult, Term};

    pub(crate) struct Measurement {
        function: &'static str,
        started_ns: u64,
    }

    static LONGEST: LazyLock<Mutex<HashMap<&'static str, u64>>> = LazyLock::new(Mutex::default);

    impl Measurement {
        pub(super) fn start(function: &'static str) -> Self {
            Self {
                function,
                started_ns: thread_cpu_ns(),
            }
        }
    }

    impl Drop for Measurement {
        fn drop(&mut self) {
            let took = thread_cpu_ns() - self.started_ns;
            let mut longest = LONGEST.lock().unwrap_or_else(PoisonError::into_inner);
            let known = longest.entry(self.function).or_insert(0);
            *known = took.max(*known);
        }
    }

    pub(super) fn longest(env: Env<'_>) -> NifResult<Term<'_>> {
        let longest = LONGEST.lock().unwrap_or_else(PoisonError::into_inner);
        let pairs: NifResult<Vec<(Atom, u64)>> = longest
            .iter()
            .map(|(function, ns)| Ok((Atom::from_str(env, function)?, *ns)))
            .collect();
        Term::map_from_pairs(env, &pairs?)
    }

    pub(super) fn reset() {
        LONGEST
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    fn thread_cpu_ns() -> u64 {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}
