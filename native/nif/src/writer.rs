//! Terms to JSON text (D9): what a host returns becomes bytes in one walk.

use std::collections::HashSet;

use base64::{Engine, engine::general_purpose::STANDARD};
use mcp_json::write;
use rustler::{Atom, BigInt, Binary, MapIterator, Term, TermType, types::atom};

use crate::{
    atoms,
    budget::{MAX_TERMS, Scheduler},
    fault::Fault,
    refusal::Refusal,
    slot::Slot,
};

/// Writes terms as JSON, within a budget.
pub(crate) struct JsonWriter {
    out: Vec<u8>,
    scheduler: Scheduler,
    terms_left: usize,
    max_bytes: usize,
}

impl JsonWriter {
    /// A writer of at most `max_bytes`, with room for `capacity` at once.
    pub(crate) fn new(capacity: usize, scheduler: Scheduler, max_bytes: usize) -> Self {
        let terms_left = match scheduler {
            Scheduler::Normal => MAX_TERMS,
            Scheduler::Dirty => usize::MAX,
        };
        Self {
            out: Vec::with_capacity(capacity),
            scheduler,
            terms_left,
            max_bytes,
        }
    }

    /// Appends the JSON of `term`.
    pub(crate) fn value(&mut self, term: Term<'_>) -> Result<(), Refusal> {
        self.nested(term, 0, Slot::Value)
    }

    /// Appends the JSON of `term`, which stands where the protocol expects something particular.
    pub(crate) fn slot(&mut self, term: Term<'_>, slot: Slot) -> Result<(), Refusal> {
        self.nested(term, 0, slot)
    }

    /// Appends a JSON string.
    pub(crate) fn string(&mut self, term: Term<'_>) -> Result<(), Refusal> {
        let binary = binary(term)?;
        self.room(binary.len())?;
        let text = str::from_utf8(binary).or_else(|error| {
            let detail = format!(
                "is a binary that is not UTF-8 at byte {}",
                error.valid_up_to()
            );
            fault(atoms::not_utf8(), detail)
        })?;
        write::string(&mut self.out, text);
        Ok(())
    }

    /// Appends JSON that is written already.
    pub(crate) fn raw(&mut self, json: &[u8]) {
        self.out.extend_from_slice(json);
    }

    /// How much was written.
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// What was written.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.out
    }

    fn nested(&mut self, term: Term<'_>, depth: usize, slot: Slot) -> Result<(), Refusal> {
        self.visit()?;
        if slot == Slot::Data {
            return self.data(term);
        }
        if depth > MAX_DEPTH {
            return fault(
                atoms::too_deep(),
                format!("is nested deeper than {MAX_DEPTH} levels"),
            );
        }
        match term.get_type() {
            TermType::Binary => self.string(term),
            TermType::Integer => self.integer(term),
            TermType::Atom => {
                self.atom(term);
                Ok(())
            }
            TermType::Float => {
                self.float(term);
                Ok(())
            }
            TermType::List => self.list(term, depth, slot),
            TermType::Map => self.map(term, depth, slot),
            other => unencodable(other),
        }
    }

    /// Bytes as a string in Base64 (RFC 4648 §4): encoded here, or checked to be encoded already.
    ///
    /// Never inlined: the buffers of both would be part of each level of a nested value, and overflow a dirty
    /// scheduler's stack.
    #[inline(never)]
    fn data(&mut self, term: Term<'_>) -> Result<(), Refusal> {
        match term.decode::<(Atom, Term<'_>)>() {
            Ok((tag, bytes)) if tag == atoms::bytes() => self.bytes(binary(bytes)?),
            Ok((tag, text)) if tag == atoms::base64() => self.base64(binary(text)?),
            _ => self.base64(binary(term)?),
        }
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let length = bytes.len().div_ceil(3).saturating_mul(4);
        self.room(length)?;
        // With its quotation marks, so that the second one does not have all of it moved.
        self.out.reserve(length + 2);
        self.out.push(b'"');
        let mut encoded = [0; BASE64_STEP];
        for step in bytes.chunks(BASE64_STEP / 4 * 3) {
            let length = STANDARD
                .encode_slice(step, &mut encoded)
                .expect("three bytes take four characters");
            self.out.extend_from_slice(&encoded[..length]);
        }
        self.out.push(b'"');
        Ok(())
    }

    fn base64(&mut self, text: &[u8]) -> Result<(), Refusal> {
        self.room(text.len())?;
        if !is_base64(text) {
            let detail = "is not Base64; give {:bytes, binary} for bytes";
            return fault(atoms::content(), detail.into());
        }
        self.out.reserve(text.len() + 2);
        self.out.push(b'"');
        self.out.extend_from_slice(text);
        self.out.push(b'"');
        Ok(())
    }

    fn atom(&mut self, term: Term<'_>) {
        let literal: &[u8] = if atom::true_() == term {
            b"true"
        } else if atom::false_() == term {
            b"false"
        } else if atom::nil() == term {
            b"null"
        } else {
            return write::string(&mut self.out, &atom_text(term));
        };
        self.out.extend_from_slice(literal);
    }

    fn integer(&mut self, term: Term<'_>) -> Result<(), Refusal> {
        if let Ok(integer) = term.decode() {
            write::integer(&mut self.out, integer);
            return Ok(());
        }
        let digits = self.digits(term)?;
        self.out.extend_from_slice(digits.as_bytes());
        Ok(())
    }

    /// The decimal text of an integer beyond 64 bits. Its cost grows with the square of the length.
    fn digits(&mut self, term: Term<'_>) -> Result<String, Refusal> {
        let bytes = term.to_binary().len();
        if self.scheduler == Scheduler::Normal && bytes > MAX_QUICK_INTEGER_BYTES {
            return Err(Refusal::Large);
        }
        if bytes > MAX_INTEGER_BYTES {
            let detail =
                format!("is an integer of {bytes} bytes, at most {MAX_INTEGER_BYTES} are written");
            return fault(atoms::too_large(), detail);
        }
        let digits = term.decode::<BigInt>().map(|integer| integer.to_string());
        let digits = digits.expect("the VM says that the term is an integer");
        self.room(digits.len())?;
        Ok(digits)
    }

    fn float(&mut self, term: Term<'_>) {
        let float = term
            .decode::<f64>()
            .expect("the VM says that the term is a float");
        write::float(&mut self.out, float).expect("floats of the VM are finite");
    }

    fn list(&mut self, list: Term<'_>, depth: usize, slot: Slot) -> Result<(), Refusal> {
        self.out.push(b'[');
        let (mut rest, mut index) = (list, 0_usize);
        while let Ok((head, tail)) = rest.list_get_cell() {
            if index > 0 {
                self.out.push(b',');
            }
            self.nested(head, depth + 1, slot.item())
                .map_err(|refusal| refusal.at(&format!("[{index}]")))?;
            (rest, index) = (tail, index + 1);
        }
        if !rest.is_empty_list() {
            return fault(atoms::unencodable(), "is an improper list".into());
        }
        self.out.push(b']');
        Ok(())
    }

    fn map(&mut self, map: Term<'_>, depth: usize, slot: Slot) -> Result<(), Refusal> {
        if map.map_get(atoms::struct_key()).is_ok() {
            return Err(Refusal::Prepare);
        }
        let mut kinds = KeyKinds::default();
        let mut separator = b'{';
        for (key, member) in MapIterator::new(map).expect("the VM says that the term is a map") {
            self.out.push(separator);
            separator = b',';
            self.key(key, &mut kinds)?;
            self.out.push(b':');
            self.nested(member, depth + 1, slot.member(key))
                .map_err(|refusal| refusal.at(&format!(".{}", name_of(key))))?;
        }
        if separator == b'{' {
            self.out.push(b'{');
        }
        self.out.push(b'}');
        // Keys of one kind differ in JSON as they do in the map; `:a` and `"a"` do not.
        if kinds.mixed() {
            check_unique(map)
        } else {
            Ok(())
        }
    }

    fn key(&mut self, key: Term<'_>, kinds: &mut KeyKinds) -> Result<(), Refusal> {
        match key.get_type() {
            TermType::Atom => {
                kinds.atoms = true;
                write::string(&mut self.out, &atom_text(key));
                Ok(())
            }
            TermType::Binary => {
                kinds.binaries = true;
                self.string(key)
            }
            TermType::Integer => {
                kinds.integers = true;
                self.out.push(b'"');
                self.integer(key)?;
                self.out.push(b'"');
                Ok(())
            }
            other => unencodable(other).map_err(|refusal| refusal.at(" key")),
        }
    }

    /// Accounts for one more value.
    fn visit(&mut self) -> Result<(), Refusal> {
        self.terms_left = self.terms_left.checked_sub(1).ok_or(Refusal::Large)?;
        self.room(0)
    }

    /// Refuses to write `bytes` more where they exceed the budget or the limit.
    fn room(&self, bytes: usize) -> Result<(), Refusal> {
        let written = self.out.len().saturating_add(bytes);
        if self.scheduler.refuses(0, written) {
            return Err(Refusal::Large);
        }
        if written > self.max_bytes {
            let detail = format!("is more than {} bytes of JSON", self.max_bytes);
            return fault(atoms::too_large(), detail);
        }
        Ok(())
    }
}

/// Which kinds of keys a map has.
#[derive(Default)]
struct KeyKinds {
    atoms: bool,
    binaries: bool,
    integers: bool,
}

impl KeyKinds {
    fn mixed(&self) -> bool {
        u8::from(self.atoms) + u8::from(self.binaries) + u8::from(self.integers) > 1
    }
}

/// The text of an atom. The interface of NIF version 2.16 has Latin-1 alone, the external format every atom
/// (Erlang external term format, `ATOM_UTF8_EXT` and `SMALL_ATOM_UTF8_EXT`).
pub(crate) fn atom_text(term: Term<'_>) -> String {
    if let Ok(text) = term.atom_to_string() {
        return text;
    }
    let external = term.to_binary();
    let text = match external.as_slice() {
        [_, 119, _, text @ ..] | [_, 118, _, _, text @ ..] => text,
        _ => &[],
    };
    String::from_utf8_lossy(text).into_owned()
}

fn binary(term: Term<'_>) -> Result<&[u8], Refusal> {
    match Binary::from_term(term) {
        Ok(binary) => Ok(binary.as_slice()),
        Err(_) => fault(
            atoms::unencodable(),
            "is a bitstring, JSON has whole bytes only".into(),
        ),
    }
}

/// Whether a text is Base64 with its padding, which only the end may have.
fn is_base64(text: &[u8]) -> bool {
    let mut decoded = [0; 3 * BASE64_STEP / 4];
    let mut steps = text.chunks(BASE64_STEP).peekable();
    while let Some(step) = steps.next() {
        let is_padded = step.last() == Some(&b'=');
        if STANDARD.decode_slice(step, &mut decoded).is_err() || is_padded && steps.peek().is_some()
        {
            return false;
        }
    }
    true
}

/// Characters of Base64 that are written or checked at a time; a multiple of four.
const BASE64_STEP: usize = 4_096;

fn check_unique(map: Term<'_>) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for (key, _) in MapIterator::new(map).into_iter().flatten() {
        let name = name_of(key);
        if seen.contains(&name) {
            let detail = format!("has the key {name:?} twice once keys are strings");
            return fault(atoms::duplicate_key(), detail);
        }
        seen.insert(name);
    }
    Ok(())
}

/// A key as it stands in JSON.
pub(crate) fn name_of(key: Term<'_>) -> String {
    match key.get_type() {
        TermType::Atom => atom_text(key),
        TermType::Binary => key.decode().unwrap_or_default(),
        _ => format!("{key:?}"),
    }
}

fn unencodable<T>(kind: TermType) -> Result<T, Refusal> {
    let name = match kind {
        TermType::Tuple => "tuple",
        TermType::Fun => "function",
        TermType::Pid => "pid",
        TermType::Port => "port",
        TermType::Ref => "reference",
        TermType::Float => "float",
        TermType::Map => "map",
        TermType::List => "list",
        _ => "term",
    };
    fault(
        atoms::unencodable(),
        format!("is a {name}, which JSON has no form for"),
    )
}

fn fault<T>(kind: Atom, detail: String) -> Result<T, Refusal> {
    Err(Refusal::fault(Fault::new(kind, detail)))
}

/// Levels that a host's term may be nested, as many as a message may. The walk recurses, and a dirty scheduler's stack
/// of 320 KiB has room for 400.
const MAX_DEPTH: usize = 256;

/// Bytes of an integer's external form that a normal scheduler turns into digits.
const MAX_QUICK_INTEGER_BYTES: usize = 1_024;

/// Bytes of an integer's external form that are turned into digits at all: about 150,000 digits, 0.1 s.
pub(crate) const MAX_INTEGER_BYTES: usize = 64 * 1024;
