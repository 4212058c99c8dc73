//! The rows of a list that one caller sees: what is left out of it is neither counted nor digested.

use std::sync::Arc;

use mcp_auth::{Definition, Denial, Scopes};
use sha2::{Digest, Sha256};

use super::{
    Catalog,
    section::{Listed, Section},
};
use crate::{method::Method, offer::OfferKind, revision::Revision};

/// The rows, in the order of their list.
#[derive(Debug)]
pub(crate) struct Selection {
    serials: Vec<u64>,
    digest: [u8; 32],
}

/// What tells rows that a caller sees from others.
pub(crate) struct Sieve {
    /// What the caller was granted, with all that it stands for; none where scopes decide nothing.
    pub(crate) granted: Option<Arc<Scopes>>,
    /// Whether rows are left out too whose callers would be told what they lack.
    pub(crate) hides: bool,
    /// What callers without the scopes are told where a row does not say.
    pub(crate) denial: Denial,
    /// What the host says of the rows that pass so far, in their order: 1 for each that it permits.
    pub(crate) verdicts: Option<Vec<u8>>,
}

impl Sieve {
    fn passes(&self, access: &Definition) -> bool {
        let Some(granted) = &self.granted else {
            return true;
        };
        let is_shown = !self.hides && access.denial(self.denial) == Denial::Challenge;
        is_shown || access.permits(granted)
    }
}

impl Catalog {
    /// The rows of the list of `method` that pass. Takes time in proportion to the list.
    pub(crate) fn select(&self, method: Method, sieve: &Sieve) -> Selection {
        match OfferKind::of_list(method) {
            OfferKind::Tool => self.tools().select(sieve),
            OfferKind::Resource => self.resources().select(sieve),
            OfferKind::Template => self.templates().select(sieve),
            OfferKind::Prompt => self.prompts().select(sieve),
        }
    }

    /// Whether walking the list of `method` takes no time to speak of.
    pub(crate) fn is_short(&self, method: Method) -> bool {
        match OfferKind::of_list(method) {
            OfferKind::Tool => self.tools().is_short(),
            OfferKind::Resource => self.resources().is_short(),
            OfferKind::Template => self.templates().is_short(),
            OfferKind::Prompt => self.prompts().is_short(),
        }
    }

    /// Whether no row of the list of `method` needs scopes, as far as that is known without a long walk.
    pub(crate) fn is_open(&self, method: Method) -> bool {
        match OfferKind::of_list(method) {
            OfferKind::Tool => self.tools().is_open(),
            OfferKind::Resource => self.resources().is_open(),
            OfferKind::Template => self.templates().is_open(),
            OfferKind::Prompt => self.prompts().is_open(),
        }
    }

    /// What the rows of a selection are known by.
    pub(crate) fn selected_names(&self, method: Method, selection: &Selection) -> Vec<Box<str>> {
        match OfferKind::of_list(method) {
            OfferKind::Tool => self.tools().names(selection),
            OfferKind::Resource => self.resources().names(selection),
            OfferKind::Template => self.templates().names(selection),
            OfferKind::Prompt => self.prompts().names(selection),
        }
    }
}

impl<D: Listed> Section<D> {
    fn select(&self, sieve: &Sieve) -> Selection {
        let mut verdicts = sieve.verdicts.iter().flatten();
        let mut is_permitted = || sieve.verdicts.is_none() || verdicts.next() == Some(&1);
        let mut hash = Sha256::new();
        let mut serials = Vec::new();
        for (serial, definition) in self.rows() {
            if sieve.passes(definition.access()) && is_permitted() {
                hash.update(definition.entry().digest());
                serials.push(serial);
            }
        }
        let digest = hash.finalize().into();
        Selection { serials, digest }
    }

    fn names(&self, selection: &Selection) -> Vec<Box<str>> {
        let serials = selection.serials.iter();
        let rows = serials.filter_map(|serial| self.row(*serial));
        rows.map(|definition| definition.name().into()).collect()
    }

    /// List entries of a selection from `position` on, at most `count`.
    pub(crate) fn selected_page(
        &self,
        selection: &Selection,
        revision: Revision,
        position: usize,
        count: usize,
    ) -> impl Iterator<Item = &str> {
        let serials = selection.serials.iter().skip(position).take(count);
        let rows = serials.filter_map(|serial| self.row(*serial));
        rows.map(move |definition| definition.entry().text(revision))
    }
}

impl Selection {
    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.serials.len()
    }

    /// SHA-256 over the digests of the rows.
    pub(crate) fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}
