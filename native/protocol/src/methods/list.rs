//! Lists, page by page (MCP 2026-07-28 server/utilities/pagination).

use crate::{
    cache::{CacheHint, CacheHints},
    catalog::{Catalog, Listed, Section},
    config::Shared,
    cursor::Cursor,
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

impl<D: Listed> List<D> {
    /// Whether the page that is asked for takes a digest that is not at hand, which is long work for a long list.
    pub(crate) fn needs_digest(
        &self,
        params: Params<'_>,
        shared: &Shared,
        catalog: &Catalog,
    ) -> bool {
        let section = (self.section)(catalog);
        let has_cursor = params.get(CURSOR).is_some() || section.len() > shared.config.page_size;
        has_cursor && !section.digest_is_at_hand()
    }

    /// Which page is asked for.
    pub(crate) fn position(
        &self,
        params: Params<'_>,
        shared: &Shared,
        catalog: &Catalog,
    ) -> Result<usize, Error> {
        let Some(cursor) = params.get(CURSOR) else {
            return Ok(0);
        };
        let text = cursor
            .as_str()
            .ok_or_else(|| invalid("The member \"params.cursor\" must be a string"))?;
        let digest = (self.section)(catalog).digest();
        Cursor::parse(&text, &shared.keys, self.name, digest)
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
        catalog: &Catalog,
        revision: Revision,
        position: usize,
    ) {
        let config = &shared.config;
        let section = (self.section)(catalog);
        result.array(
            self.name,
            section.page(revision, position, config.page_size),
        );
        let next = position + config.page_size;
        if next < section.len() {
            let cursor = Cursor::new(next as u32, section.digest());
            result.string("nextCursor", &cursor.encode(&shared.keys, self.name));
        }
        (self.hint)(&config.cache).write(result, config, revision);
    }
}

const CURSOR: &str = "cursor";

fn invalid(message: &'static str) -> Error {
    Error::new(Code::InvalidParams, word::CURSOR, message)
}
