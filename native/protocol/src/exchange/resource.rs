//! `resources/read`.

use std::sync::Arc;

use super::{Exchange, Reply, Request};
use crate::{
    call::{Reading, Target},
    error::Error,
    methods::resources_read,
    outcome::Contents,
    step::Step,
    time::Now,
};

impl Exchange {
    pub(super) fn read_resource(&mut self, now: Now, mut request: Request) -> Result<Step, Error> {
        let reading =
            resources_read::read(request.named_params(), self.catalog(), request.revision)?;
        self.read_inputs(now, &mut request)?;
        self.dispatch(now, request, Target::Resource(Arc::new(reading)), None)
    }

    pub(super) fn contents(
        &mut self,
        reply: &Reply,
        reading: &Reading,
        contents: &Contents,
    ) -> Step {
        if contents.pieces.is_empty() {
            let fault =
                "the resource has no contents; answer :not_found for one that does not exist";
            return self.host_failed(reply, Some(fault.into()));
        }
        let shared = Arc::clone(&self.shared);
        self.result(reply, contents.meta.as_deref(), |members| {
            resources_read::write(members, contents, reading, &shared.config, reply.revision);
        })
    }
}
