//! From the text of a template to its parts.

use std::collections::HashSet;
use std::sync::Arc;

use crate::byte_set::{RESERVED, UNRESERVED};
use crate::error::{ErrorKind, TemplateError};
use crate::named::Named;
use crate::operator::{Form, KEPT_SIGNS, Operator};
use crate::percent;
use crate::piece::Variable;
use crate::zone::{Ambiguous, Zone};

/// What a template is parsed to.
pub(crate) struct Parsed {
    pub(crate) names: Vec<Arc<str>>,
    pub(crate) path: Zone,
    pub(crate) query: Zone,
    pub(crate) fragment: Zone,
}

/// Parses `text` (RFC 6570 section 2).
pub(crate) fn parse(text: &str) -> Result<Parsed, TemplateError> {
    let mut parser = Parser::default();
    let mut at = 0;
    while let Some(brace) = text[at..].find(['{', '}']).map(|brace| at + brace) {
        parser.literal(&text[at..brace], at)?;
        if text[brace..].starts_with('}') {
            return Err(TemplateError::new(ErrorKind::Unopened, brace));
        }
        let inside = &text[brace + 1..];
        let end = inside.find('}');
        let end = end.ok_or(TemplateError::new(ErrorKind::Unclosed, brace))?;
        parser.expression(&inside[..end], brace + 1)?;
        at = brace + 1 + end + 1;
    }
    parser.literal(&text[at..], at)?;
    parser.finish()
}

/// The parts of a URI, in order.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
enum Part {
    #[default]
    Path,
    Query,
    Fragment,
}

#[derive(Default)]
struct Parser {
    names: Vec<Arc<str>>,
    /// Where each name stands.
    offsets: Vec<usize>,
    seen: HashSet<Arc<str>>,
    part: Part,
    zones: [Zone; 3],
}

impl Parser {
    /// Literal text that starts at `offset` (RFC 6570 section 2.1).
    fn literal(&mut self, text: &str, offset: usize) -> Result<(), TemplateError> {
        for (at, char) in text.char_indices() {
            let refuse = |kind| Err(TemplateError::new(kind, offset + at));
            let known = char.is_ascii() && UNRESERVED.union(RESERVED).contains(char as u8);
            if !known && (char.is_ascii() || char.is_control()) {
                return refuse(ErrorKind::Character { found: char });
            }
            if char == '%' && !percent::starts_with_digits(&text[at + 1..]) {
                return refuse(ErrorKind::Percent);
            }
            self.write(&percent::ascii(char.encode_utf8(&mut [0; 4])), offset + at)?;
        }
        Ok(())
    }

    /// What stands between two braces, from `offset` on.
    fn expression(&mut self, text: &str, offset: usize) -> Result<(), TemplateError> {
        let sign = text.bytes().next();
        if let Some(sign) = sign.filter(|sign| KEPT_SIGNS.contains(sign)) {
            let found = char::from(sign);
            return Err(TemplateError::new(ErrorKind::Operator { found }, offset));
        }
        let operator = Operator::of(sign);
        let start = usize::from(operator.sign.is_some());
        let slot = self.names.len();
        self.declare(&text[start..], offset + start)?;
        match operator.form {
            Form::Named => self.named(operator, slot, offset),
            Form::Simple | Form::Reserved => self.unnamed(operator, slot, offset),
        }
    }

    /// The variables of one expression, from `offset` on.
    fn declare(&mut self, list: &str, mut offset: usize) -> Result<(), TemplateError> {
        for spec in list.split(',') {
            let refuse = |kind| Err(TemplateError::new(kind, offset));
            let name: Arc<str> = match variable_name(spec) {
                Ok(name) => name.into(),
                Err(kind) => return refuse(kind),
            };
            if !self.seen.insert(Arc::clone(&name)) {
                return refuse(ErrorKind::Duplicate { name: spec.into() });
            }
            self.names.push(name);
            self.offsets.push(offset);
            offset += spec.len() + 1;
        }
        Ok(())
    }

    fn unnamed(
        &mut self,
        operator: &Operator,
        first: usize,
        offset: usize,
    ) -> Result<(), TemplateError> {
        let slots = first..self.names.len();
        let separator = char::from(operator.separator);
        for slot in slots.clone() {
            if slot == first {
                self.write(operator.first, offset)?;
            } else {
                self.write(separator.encode_utf8(&mut [0]), offset)?;
            }
            let variable = Variable::new(slot, operator, slots.len() == 1);
            self.zone(offset)?.push_variable(variable);
        }
        Ok(())
    }

    fn named(
        &mut self,
        operator: &'static Operator,
        first: usize,
        offset: usize,
    ) -> Result<(), TemplateError> {
        let named = Named::new(first, &self.names[first..], operator);
        self.enter(operator.first);
        self.zone(offset)?.end_with(named);
        Ok(())
    }

    fn write(&mut self, text: &str, offset: usize) -> Result<(), TemplateError> {
        self.enter(text);
        for char in text.chars() {
            self.zone(offset)?.push_char(char);
        }
        Ok(())
    }

    /// The first `?` begins the query and the first `#` the fragment (RFC 3986 section 3).
    fn enter(&mut self, text: &str) {
        self.part = self.part.max(match text {
            "?" => Part::Query,
            "#" => Part::Fragment,
            _ => Part::Path,
        });
    }

    /// The part that is being written, unless a named expression has ended it.
    fn zone(&mut self, offset: usize) -> Result<&mut Zone, TemplateError> {
        let zone = &mut self.zones[self.part as usize];
        if zone.has_named() {
            return Err(TemplateError::new(ErrorKind::NamedNotLast, offset));
        }
        Ok(zone)
    }

    fn finish(self) -> Result<Parsed, TemplateError> {
        let Self {
            names,
            offsets,
            zones: [path, query, fragment],
            ..
        } = self;
        let explain = |Ambiguous { first, second }: Ambiguous| {
            let kind = ErrorKind::Ambiguous {
                first: names[first].to_string(),
                second: names[second].to_string(),
            };
            TemplateError::new(kind, offsets[second])
        };
        Ok(Parsed {
            path: path.arrange().map_err(explain)?,
            query: query.arrange().map_err(explain)?,
            fragment: fragment.arrange().map_err(explain)?,
            names,
        })
    }
}

/// The name in `spec` (RFC 6570 section 2.3); a modifier of level 4 is refused (section 2.4).
fn variable_name(spec: &str) -> Result<&str, ErrorKind> {
    if let Some(name) = spec.strip_suffix('*').filter(|name| is_name(name)) {
        return Err(ErrorKind::Explode { name: name.into() });
    }
    if let Some((name, _)) = spec.split_once(':').filter(|(name, _)| is_name(name)) {
        return Err(ErrorKind::Prefix { name: name.into() });
    }
    if !is_name(spec) {
        return Err(ErrorKind::Name { found: spec.into() });
    }
    Ok(spec)
}

fn is_name(text: &str) -> bool {
    text.split('.')
        .all(|word| !word.is_empty() && is_word(word))
}

fn is_word(text: &str) -> bool {
    text.char_indices().all(|(at, char)| match char {
        '%' => percent::starts_with_digits(&text[at + 1..]),
        _ => char.is_ascii_alphanumeric() || char == '_',
    })
}
