//! Lists, page by page (MCP 2026-07-28 server/utilities/pagination).

use crate::{
    cache::{CacheHint, CacheHints},
    catalog::{Catalog, Listed, Section, Selection},
    config::Shared,
    cursor::{Caller, Cursor},
    encode::Members,
    error::{Code, Error},
    methods::params::Params,
    revision::Revision,
    word,
};

/// One list of a catalog.
pub(crate) struct List<D: Listed> {
    /// The result's member, and what its cursors are good for.
    pub(crate) name: &'static str,
    pub(crate) section: fn(&Catalog) -> &Section<D>,
    pub(crate) hint: fn(&CacheHints) -> CacheHint,
}

/// What of a list its caller sees.
pub(crate) struct Rows<'a, D: Listed> {
    section: &'a Section<D>,
    /// None for all of it.
    selection: Option<Selection>,
}

impl<D: Listed> List<D> {
    /// Which page is asked for.
    pub(crate) fn position(
        &self,
        params: Params<'_>,
        shared: &Shared,
        rows: &Rows<'_, D>,
        caller: &Caller,
    ) -> Result<usize, Error> {
        let Some(cursor) = params.get(CURSOR) else {
            return Ok(0);
        };
        let text = cursor
            .as_str()
            .ok_or_else(|| invalid("The member \"params.cursor\" must be a string"))?;
        Cursor::parse(&text, &shared.keys, self.name, rows.digest(), caller)
            .map(|cursor| cursor.position as usize)
            .ok_or_else(|| {
                invalid(
                    "The cursor is not one of this list as it is now: list again without a cursor",
                )
            })
    }

    /// Writes the members of a page.
    pub(crate) fn write(
        &self,
        result: &mut Members<'_>,
        shared: &Shared,
        rows: &Rows<'_, D>,
        revision: Revision,
        position: usize,
        caller: &Caller,
    ) {
        let config = &shared.config;
        match &rows.selection {
            Some(selection) => result.array(
                self.name,
                (rows.section).selected_page(selection, revision, position, config.page_size),
            ),
            None => result.array(
                self.name,
                rows.section.page(revision, position, config.page_size),
            ),
        };
        let next = position + config.page_size;
        if next < rows.len() {
            let cursor = Cursor::new(next as u32, rows.digest());
            let cursor = cursor.encode(&shared.keys, self.name, caller);
            result.string("nextCursor", &cursor);
        }
        let hint = (self.hint)(&config.cache).kept_from_others(rows.section.is_open());
        hint.write(result, config, revision);
    }
}

impl<'a, D: Listed> Rows<'a, D> {
    pub(crate) fn new(section: &'a Section<D>, selection: Option<Selection>) -> Self {
        Self { section, selection }
    }

    /// Whether the page that is asked for takes a digest that is not at hand, which is long work for a long list.
    pub(crate) fn needs_digest(&self, params: Params<'_>, page_size: usize) -> bool {
        let has_cursor = params.get(CURSOR).is_some() || self.len() > page_size;
        has_cursor && self.selection.is_none() && !self.section.digest_is_at_hand()
    }

    fn len(&self) -> usize {
        match &self.selection {
            Some(selection) => selection.len(),
            None => self.section.len(),
        }
    }

    fn digest(&self) -> &[u8; 32] {
        match &self.selection {
            Some(selection) => selection.digest(),
            None => self.section.digest(),
        }
    }
}

const CURSOR: &str = "cursor";

fn invalid(message: &'static str) -> Error {
    Error::new(Code::InvalidParams, word::CURSOR, message)
}
