//! The definition that a request names, looked up as its method would.

use std::borrow::Cow;

use mcp_json::Node;

use crate::{
    catalog::{Catalog, Listed},
    method::Method,
    offer::{Offer, OfferKind},
};

/// What a request names, and what callers of it need.
pub(super) struct Named<'a> {
    pub(super) kind: OfferKind,
    /// None when nothing has the name.
    pub(super) access: Option<&'a mcp_auth::Definition>,
    name: Cow<'a, str>,
    /// What is read of a template.
    uri: Option<Cow<'a, str>>,
}

impl<'a> Named<'a> {
    /// Whether requests of a method name a definition, or several.
    pub(super) fn is_named_by(method: Method) -> bool {
        matches!(
            method,
            Method::ToolsCall
                | Method::ResourcesRead
                | Method::ResourcesSubscribe
                | Method::PromptsGet
                | Method::Complete
                | Method::Listen
        )
    }

    /// What a request names; none when it names nothing, or in no form that its method reads.
    pub(super) fn find(
        method: Method,
        params: Option<Node<'a>>,
        catalog: &'a Catalog,
    ) -> Option<Self> {
        let text = |member| params?.get(member)?.as_str();
        match method {
            Method::ToolsCall => text("name").map(|name| Self::tool(name, catalog)),
            Method::PromptsGet => text("name").map(|name| Self::prompt(name, catalog)),
            Method::ResourcesRead | Method::ResourcesSubscribe => {
                text("uri").map(|uri| Self::resource(uri, catalog))
            }
            Method::Complete => Self::completed(params?.get("ref")?, catalog),
            _ => None,
        }
    }

    /// What a name alone stands for, without a look at templates.
    pub(super) fn by_name(
        method: Method,
        name: Cow<'a, str>,
        catalog: &'a Catalog,
    ) -> Option<Self> {
        match method {
            Method::ToolsCall => Some(Self::tool(name, catalog)),
            Method::PromptsGet => Some(Self::prompt(name, catalog)),
            Method::ResourcesRead => {
                let access = catalog.resource(&name).map(|resource| resource.access());
                Some(Self::plain(OfferKind::Resource, name, access))
            }
            _ => None,
        }
    }

    /// A resource: listed itself, or else of the first template that matches (RES-15).
    pub(super) fn resource(uri: Cow<'a, str>, catalog: &'a Catalog) -> Self {
        let resource = catalog.resource(&uri);
        let template = match resource {
            Some(_) => None,
            None => catalog.matching_template(&uri),
        };
        match template {
            Some((template, _)) => Self {
                kind: OfferKind::Template,
                access: Some(template.access()),
                name: Cow::Borrowed(&template.uri_template),
                uri: Some(uri),
            },
            None => Self {
                kind: OfferKind::Resource,
                access: resource.map(|resource| resource.access()),
                name: uri,
                uri: None,
            },
        }
    }

    /// Its name as it was declared, if there is such a definition.
    pub(super) fn declared(&self) -> Option<&str> {
        self.access.map(|_| &*self.name)
    }

    /// What the host is asked about.
    pub(super) fn offer(self) -> Offer {
        Offer {
            kind: self.kind,
            name: self.name.into(),
            uri: self.uri.map(Into::into),
        }
    }

    fn tool(name: Cow<'a, str>, catalog: &'a Catalog) -> Self {
        let access = catalog.tool(&name).map(|tool| tool.access());
        Self::plain(OfferKind::Tool, name, access)
    }

    fn prompt(name: Cow<'a, str>, catalog: &'a Catalog) -> Self {
        let access = catalog.prompt(&name).map(|prompt| prompt.access());
        Self::plain(OfferKind::Prompt, name, access)
    }

    /// Whose argument is completed; a template goes by its text, or by a URI that it matches.
    fn completed(reference: Node<'a>, catalog: &'a Catalog) -> Option<Self> {
        let text = |member| reference.get(member)?.as_str();
        match text("type").as_deref() {
            Some("ref/prompt") => text("name").map(|name| Self::prompt(name, catalog)),
            Some("ref/resource") => text("uri").map(|uri| match catalog.template(&uri) {
                Some(template) => Self::plain(OfferKind::Template, uri, Some(template.access())),
                None => Self::resource(uri, catalog),
            }),
            _ => None,
        }
    }

    fn plain(
        kind: OfferKind,
        name: Cow<'a, str>,
        access: Option<&'a mcp_auth::Definition>,
    ) -> Self {
        Self {
            kind,
            access,
            name,
            uri: None,
        }
    }
}
