//! Definitions and changes of a catalog as the BEAM hands them over: maps with every key present, `nil` when absent.

use std::sync::Arc;

use mcp_auth::Denial;
use mcp_json::Document;
use mcp_protocol::{
    Access, CacheChoice, CacheScope, CompletionDefinition, CompletionKey, Definition,
    DefinitionFault, Edit, Handler, Key, PromptArgument, PromptDefinition, Rate, Reference,
    ResourceDefinition, TaskSupport, TemplateDefinition, ToolDefinition, ToolLimits,
};
use rustler::{Atom, Decoder, MapIterator, Term, types::atom};
use serde_json::Value;

use crate::{
    atoms,
    budget::Scheduler,
    decode, encode,
    fault::Fault,
    handler::{ArgumentKeys, Function, HostHandler, Row},
    options::{self, OptionalAtom, Options},
    refusal::Refusal,
    released::Released,
};

/// Reads `{kind, map}`.
pub(crate) fn read(
    term: Term<'_>,
    released: &Arc<Released>,
) -> Result<Definition, DefinitionFault> {
    let (kind, map): (Atom, Term<'_>) = term.decode().map_err(|_| unknown_kind())?;
    definition(kind, map, released)
}

/// Reads `{:put, kind, map}` or `{:delete, kind, key}`.
pub(crate) fn read_edit(term: Term<'_>, released: &Arc<Released>) -> Result<Edit, DefinitionFault> {
    let (what, kind, of): (Atom, Atom, Term<'_>) = term.decode().map_err(|_| unknown_kind())?;
    if what == atoms::put() {
        return definition(kind, of, released).map(|put| Edit::Put(Box::new(put)));
    }
    match key(kind, of) {
        Some(key) if what == atoms::delete() => Ok(Edit::Delete(key)),
        _ => Err(unknown_kind()),
    }
}

fn definition(
    kind: Atom,
    map: Term<'_>,
    released: &Arc<Released>,
) -> Result<Definition, DefinitionFault> {
    let fields = |name_key: Atom| Fields::new(Options(map), name_key, released);
    if kind == atoms::tool() {
        fields(atoms::name())?.tool().map(Definition::Tool)
    } else if kind == atoms::resource() {
        fields(atoms::uri())?.resource().map(Definition::Resource)
    } else if kind == atoms::template() {
        let fields = fields(atoms::uri_template())?;
        fields.template().map(Definition::Template)
    } else if kind == atoms::prompt() {
        fields(atoms::name())?.prompt().map(Definition::Prompt)
    } else if kind == atoms::completion() {
        completion(Options(map), released).map(Definition::Completion)
    } else {
        Err(unknown_kind())
    }
}

fn key(kind: Atom, key: Term<'_>) -> Option<Key> {
    if kind == atoms::completion() {
        return completion_key(key).map(Key::Completion);
    }
    let text: String = key.decode().ok()?;
    if kind == atoms::tool() {
        Some(Key::Tool(text))
    } else if kind == atoms::resource() {
        Some(Key::Resource(text))
    } else if kind == atoms::template() {
        Some(Key::Template(text))
    } else if kind == atoms::prompt() {
        Some(Key::Prompt(text))
    } else {
        None
    }
}

/// The fields of one definition, read with faults in its name.
struct Fields<'a, 'r> {
    options: Options<'a>,
    /// What the definition is known by.
    key: String,
    released: &'r Arc<Released>,
}

impl<'a, 'r> Fields<'a, 'r> {
    fn new(
        options: Options<'a>,
        key: Atom,
        released: &'r Arc<Released>,
    ) -> Result<Self, DefinitionFault> {
        let key = options.get(key).map_err(|fault| at("", "name", fault))?;
        Ok(Self {
            options,
            key,
            released,
        })
    }

    fn tool(self) -> Result<ToolDefinition, DefinitionFault> {
        Ok(ToolDefinition {
            title: self.get(atoms::title(), "title")?,
            description: self.get(atoms::description(), "description")?,
            input_schema: self.json(atoms::input_schema(), "input_schema")?,
            output_schema: self.json(atoms::output_schema(), "output_schema")?,
            annotations: self.json(atoms::annotations(), "annotations")?,
            icons: self.json(atoms::icons(), "icons")?,
            meta: self.json(atoms::meta(), "meta")?,
            limits: self.limits()?,
            task_support: self.task_support()?,
            access: self.access()?,
            handler: self.handler(self.argument_keys()?)?,
            name: self.key,
        })
    }

    fn resource(self) -> Result<ResourceDefinition, DefinitionFault> {
        Ok(ResourceDefinition {
            name: self.get(atoms::name(), "name")?,
            title: self.get(atoms::title(), "title")?,
            description: self.get(atoms::description(), "description")?,
            mime_type: self.get(atoms::mime_type_key(), "mime_type")?,
            size: self.get(atoms::size(), "size")?,
            annotations: self.json(atoms::annotations(), "annotations")?,
            icons: self.json(atoms::icons(), "icons")?,
            meta: self.json(atoms::meta(), "meta")?,
            cache: self.cache()?,
            access: self.access()?,
            handler: self.handler([].into())?,
            uri: self.key,
        })
    }

    fn template(self) -> Result<TemplateDefinition, DefinitionFault> {
        Ok(TemplateDefinition {
            name: self.get(atoms::name(), "name")?,
            title: self.get(atoms::title(), "title")?,
            description: self.get(atoms::description(), "description")?,
            mime_type: self.get(atoms::mime_type_key(), "mime_type")?,
            annotations: self.json(atoms::annotations(), "annotations")?,
            icons: self.json(atoms::icons(), "icons")?,
            meta: self.json(atoms::meta(), "meta")?,
            cache: self.cache()?,
            access: self.access()?,
            handler: self.handler([].into())?,
            uri_template: self.key,
        })
    }

    fn prompt(self) -> Result<PromptDefinition, DefinitionFault> {
        let arguments: Vec<Term<'_>> = self.get(atoms::arguments(), "arguments")?;
        let arguments = arguments.into_iter().map(argument);
        Ok(PromptDefinition {
            title: self.get(atoms::title(), "title")?,
            description: self.get(atoms::description(), "description")?,
            arguments: arguments
                .collect::<Result<_, _>>()
                .map_err(|fault| at(&self.key, "arguments", fault))?,
            icons: self.json(atoms::icons(), "icons")?,
            meta: self.json(atoms::meta(), "meta")?,
            access: self.access()?,
            handler: self.handler(self.argument_keys()?)?,
            name: self.key,
        })
    }

    fn limits(&self) -> Result<ToolLimits, DefinitionFault> {
        let rate: Option<(u32, u64)> = self.get(atoms::rate(), "rate")?;
        Ok(ToolLimits {
            timeout_ms: self.get(atoms::timeout_ms(), "timeout_ms")?,
            max_concurrency: self.get(atoms::max_concurrency(), "max_concurrency")?,
            rate: rate.map(|(count, per_ms)| Rate { count, per_ms }),
        })
    }

    /// `:optional`, `:required` or, as all else, `:forbidden`.
    fn task_support(&self) -> Result<TaskSupport, DefinitionFault> {
        let support: Atom = self.get(atoms::task_support(), "task_support")?;
        Ok(if support == atoms::required() {
            TaskSupport::Required
        } else if support == atoms::optional() {
            TaskSupport::Optional
        } else {
            TaskSupport::Forbidden
        })
    }

    fn access(&self) -> Result<Access, DefinitionFault> {
        let OptionalAtom(denial) = self.get(atoms::denial(), "denial")?;
        let alternatives = atoms::alternative_scope_sets();
        Ok(Access {
            required_scopes: self.get(atoms::required_scopes(), "required_scopes")?,
            alternative_scope_sets: self.get(alternatives, "alternative_scope_sets")?,
            denial: denial.map(|denial| match denial == atoms::neutral() {
                true => Denial::Neutral,
                false => Denial::Challenge,
            }),
        })
    }

    fn cache(&self) -> Result<CacheChoice, DefinitionFault> {
        let OptionalAtom(scope) = self.get(atoms::cache_scope(), "cache_scope")?;
        Ok(CacheChoice {
            ttl_ms: self.get(atoms::cache_ttl_ms(), "cache_ttl_ms")?,
            scope: scope.map(cache_scope),
        })
    }

    fn handler(&self, argument_keys: ArgumentKeys) -> Result<Arc<dyn Handler>, DefinitionFault> {
        let function = function(self.options, self.released);
        let function = function.map_err(|fault| at(&self.key, "handler", fault))?;
        Ok(Arc::new(HostHandler {
            function,
            argument_keys,
            parks: self.get(atoms::park(), "resume")?,
        }))
    }

    fn argument_keys(&self) -> Result<ArgumentKeys, DefinitionFault> {
        argument_keys(self.options).map_err(|fault| at(&self.key, "argument_keys", fault))
    }

    fn get<T: Decoder<'a>>(&self, key: Atom, place: &str) -> Result<T, DefinitionFault> {
        let value = self.options.get(key);
        value.map_err(|fault| at(&self.key, place, fault))
    }

    fn json(&self, key: Atom, place: &str) -> Result<Option<Value>, DefinitionFault> {
        let value: Term<'_> = self.get(key, place)?;
        let value = Some(value).filter(|term| atom::nil() != *term);
        let json = value.map(json_value).transpose();
        json.map_err(|fault| at(&self.key, place, fault))
    }
}

fn argument(map: Term<'_>) -> Result<PromptArgument, Fault> {
    let options = Options(map);
    Ok(PromptArgument {
        name: options.get(atoms::name())?,
        title: options.get(atoms::title())?,
        description: options.get(atoms::description())?,
        required: options.get(atoms::required())?,
    })
}

fn completion(
    options: Options<'_>,
    released: &Arc<Released>,
) -> Result<CompletionDefinition, DefinitionFault> {
    let field = |key: Atom| options.get::<Term<'_>>(key);
    let key = match (field(atoms::ref_key()), field(atoms::argument())) {
        (Ok(reference), Ok(argument)) => {
            reference_of(reference).zip(argument.decode::<Option<String>>().ok())
        }
        _ => None,
    };
    let Some((reference, argument)) = key else {
        let fault = options::wrong(atoms::ref_key(), "no reference with an argument or none");
        return Err(at("", "ref", fault));
    };
    let function = function(options, released);
    let function = function.map_err(|fault| at(reference.as_str(), "handler", fault))?;
    Ok(CompletionDefinition {
        key: CompletionKey {
            reference,
            argument: argument.map(Into::into),
        },
        handler: Arc::new(HostHandler {
            function,
            argument_keys: [].into(),
            parks: false,
        }),
    })
}

/// `{ref, argument | nil}`
fn completion_key(key: Term<'_>) -> Option<CompletionKey> {
    let (reference, argument): (Term<'_>, Option<String>) = key.decode().ok()?;
    Some(CompletionKey {
        reference: reference_of(reference)?,
        argument: argument.map(Into::into),
    })
}

/// `{:prompt, name}` or `{:template, uri_template}`
fn reference_of(term: Term<'_>) -> Option<Reference> {
    let (kind, text): (Atom, String) = term.decode().ok()?;
    if kind == atoms::prompt() {
        Some(Reference::Prompt(text.into()))
    } else if kind == atoms::template() {
        Some(Reference::Resource(text.into()))
    } else {
        None
    }
}

/// An atom or a binary, given back as it came, or the number of a row of the host's.
fn function(options: Options<'_>, released: &Arc<Released>) -> Result<Function, Fault> {
    let handler: Term<'_> = options.get(atoms::handler())?;
    if let Ok(number) = handler.decode::<u64>() {
        let released = Arc::clone(released);
        return Ok(Function::Row(Row { number, released }));
    }
    if let Ok(atom) = handler.decode::<Atom>() {
        return Ok(Function::Atom(atom));
    }
    let binary: rustler::Binary<'_> = options.get(atoms::handler())?;
    Ok(Function::Binary(binary.as_slice().into()))
}

fn argument_keys(options: Options<'_>) -> Result<ArgumentKeys, Fault> {
    let keys: MapIterator<'_> = options.get(atoms::argument_keys())?;
    let mut argument_keys = keys
        .map(|(name, atom)| Ok((name.decode::<&str>()?.into(), atom.decode::<Atom>()?)))
        .collect::<rustler::NifResult<Vec<(Box<str>, Atom)>>>()
        .map_err(|_| options::wrong(atoms::argument_keys(), "not a map of binaries to atoms"))?;
    argument_keys.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok(argument_keys.into())
}

/// `:public` or, as all else, `:private`.
pub(crate) fn cache_scope(scope: Atom) -> CacheScope {
    if scope == atoms::public() {
        CacheScope::Public
    } else {
        CacheScope::Private
    }
}

/// The JSON value of a term.
pub(crate) fn json_value(term: Term<'_>) -> Result<Value, Fault> {
    let json = encode::to_json(term, Scheduler::Dirty, usize::MAX).map_err(Refusal::into_fault)?;
    Document::parse(json.into(), &decode::CHECKED)
        .map(|document| document.root().to_value())
        .map_err(|error| Fault::new(atoms::unencodable(), error.to_string()))
}

fn unknown_kind() -> DefinitionFault {
    let detail =
        "is none of :tool, :resource, :template, :prompt and :completion with what belongs to it";
    at("", "kind", Fault::new(atoms::config(), detail))
}

fn at(definition: &str, place: &str, fault: Fault) -> DefinitionFault {
    DefinitionFault {
        definition: definition.to_owned(),
        place: place.to_owned(),
        message: fault.detail,
    }
}
