//! What the server's process and its descendants have used, as its CPU clocks (`clock_getcpuclockid`) and `/proc` tell.

use std::{collections::HashMap, fs, time::Duration};

use nix::{
    time::{ClockId, clock_getcpuclockid},
    unistd::Pid,
};

/// A process and all below it, as they were when it was looked up.
pub(crate) struct Process {
    family: Vec<u32>,
}

impl Process {
    /// Finds `pid` and its descendants.
    pub(crate) fn find(pid: u32) -> Result<Self, String> {
        let entries = fs::read_dir("/proc").map_err(|error| format!("/proc: {error}"))?;
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for entry in entries.flatten() {
            let child = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            // A process may end while we look.
            if let Some((child, Ok(stat))) = child.map(|child| (child, Stat::read(child))) {
                children.entry(stat.parent).or_default().push(child);
            }
        }
        let mut family = vec![pid];
        let mut next = 0;
        while let Some(parent) = family.get(next) {
            family.extend(children.remove(parent).unwrap_or_default());
            next += 1;
        }
        Ok(Self { family })
    }

    /// User and system time of all threads, those included that have ended.
    pub(crate) fn cpu(&self) -> Result<Duration, String> {
        let times = self.family.iter().map(|&pid| {
            let clock = clock_getcpuclockid(Pid::from_raw(pid.cast_signed()));
            let time = clock.and_then(ClockId::now);
            time.map(Duration::from)
                .map_err(|error| format!("process {pid}: {error}"))
        });
        times.sum()
    }

    /// Memory held, in bytes.
    pub(crate) fn resident_bytes(&self) -> Result<u64, String> {
        self.stats().map(|stat| Ok(stat?.resident_bytes)).sum()
    }

    fn stats(&self) -> impl Iterator<Item = Result<Stat, String>> {
        self.family.iter().map(|&pid| Stat::read(pid))
    }
}

struct Stat {
    parent: u32,
    resident_bytes: u64,
}

impl Stat {
    fn read(pid: u32) -> Result<Self, String> {
        let line = fs::read_to_string(format!("/proc/{pid}/stat"))
            .map_err(|error| format!("process {pid}: {error}"))?;
        // The second field is a name that may hold spaces and parentheses: fields count from its end.
        let fields: Vec<&str> = line
            .rsplit_once(") ")
            .map(|(_, rest)| rest.split(' ').collect())
            .unwrap_or_default();
        let number = |index: usize| -> Result<u64, String> {
            fields
                .get(index - 3)
                .and_then(|field| field.parse().ok())
                .ok_or_else(|| format!("process {pid}: no field {index}"))
        };
        Ok(Self {
            parent: number(4)? as u32,
            resident_bytes: number(24)? * PAGE_BYTES,
        })
    }
}

const PAGE_BYTES: u64 = 4096;
