//! What the server's process and its descendants have used, as `/proc` tells (proc(5)).

use std::{collections::HashMap, fs, time::Duration};

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

    /// User and system time of all threads; the kernel counts in steps of 10 ms.
    pub(crate) fn cpu(&self) -> Result<Duration, String> {
        self.stats().map(|stat| Ok(stat?.cpu)).sum()
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
    cpu: Duration,
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
            cpu: Duration::from_millis((number(14)? + number(15)?) * TICK_MS),
            resident_bytes: number(24)? * PAGE_BYTES,
        })
    }
}

/// Linux shows times in hundredths of a second, whatever the kernel's own clock.
const TICK_MS: u64 = 10;
const PAGE_BYTES: u64 = 4096;
