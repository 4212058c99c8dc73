//! One instance: what all its transports and processes share.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use arc_swap::ArcSwap;
use mcp_driver::{Buffers, CallLimits, Calls, DetachedStreams, Subscribers, SubscriptionLimits};
use mcp_http::{Listener, Workers};
use mcp_protocol::{CacheHint, CacheHints, Catalog, Config, Keys, LogLevel, Rate, Rates, Shared};
use rustler::{
    Atom, Binary, Encoder, Env, LocalPid, Monitor, Resource, ResourceArc, Term, types::atom,
};

use crate::{
    atoms,
    definition::cache_scope,
    dispatcher::Dispatchers,
    fault::Fault,
    options::{self, Options},
    released::Released,
    ring::Ring,
    scopes, server_info, timing, workers,
};

/// An instance as native threads see it.
pub(crate) struct Instance {
    pub(crate) shared: ArcSwap<Shared>,
    /// What the host configured. What is shared differs from it once a catalog had tasks: then those are kept.
    pub(crate) config: Arc<Config>,
    pub(crate) calls: Arc<Calls<LocalPid>>,
    pub(crate) subscribers: Arc<Subscribers>,
    pub(crate) detached: Arc<DetachedStreams<Self>>,
    pub(crate) buffers: Arc<Buffers>,
    pub(crate) dispatchers: Arc<Dispatchers>,
    pub(crate) ring: Ring,
    pub(crate) released: Arc<Released>,
    pub(crate) workers: &'static Workers,
    /// Whether requests and connections are events.
    pub(crate) telemetry: bool,
    listeners: Mutex<Vec<Weak<Listener>>>,
}

/// An instance as a term.
pub(crate) struct InstanceHandle(Option<Arc<Instance>>);

/// `instance_new/1`; the first one starts the native threads.
#[rustler::nif(schedule = "DirtyIo")]
fn instance_new<'a>(env: Env<'a>, config: Term<'a>) -> Term<'a> {
    match Instance::new(Options(config)) {
        Ok(instance) => (
            atom::ok(),
            ResourceArc::new(InstanceHandle(Some(Arc::new(instance)))),
        )
            .encode(env),
        Err(fault) => fault.encode(env),
    }
}

/// `dispatcher_add/2`
#[rustler::nif]
fn dispatcher_add(env: Env<'_>, handle: ResourceArc<InstanceHandle>, pid: LocalPid) -> Atom {
    let _time = timing::measure("dispatcher_add");
    handle.instance().dispatchers.add(pid);
    if env.monitor(&handle, &pid).is_none() {
        handle.lose(pid);
    }
    atom::ok()
}

impl Instance {
    fn new(options: Options<'_>) -> Result<Self, Fault> {
        let config = Arc::new(config(options)?);
        let limits = CallLimits {
            max_calls: options.get(atoms::max_calls())?,
            max_calls_per_principal: options.get(atoms::max_calls_per_principal())?,
        };
        let subscriptions = SubscriptionLimits {
            max_subscriptions: options.get(atoms::max_subscriptions())?,
            max_subscriptions_per_principal: options
                .get(atoms::max_subscriptions_per_principal())?,
        };
        let threads = options.get(atoms::native_threads())?;
        let workers = workers::started(threads).map_err(|error| {
            Fault::new(
                atoms::io(),
                format!("the native threads do not start: {error}"),
            )
        })?;
        let shared = Shared {
            config: Arc::clone(&config),
            catalog: Arc::new(Catalog::default()),
            keys: Arc::new(Keys::derive(&secrets(options)?)),
        };
        Ok(Self {
            shared: ArcSwap::from_pointee(shared),
            config,
            calls: Calls::new(limits),
            subscribers: Subscribers::new(subscriptions),
            detached: DetachedStreams::new(),
            buffers: Buffers::new(options.get(atoms::max_buffered_bytes())?),
            dispatchers: Arc::new(Dispatchers::new()),
            ring: Ring::new(),
            released: Arc::default(),
            workers,
            telemetry: options.get(atoms::telemetry())?,
            listeners: Mutex::default(),
        })
    }

    /// Counts a listener's connections from now on.
    pub(crate) fn add_listener(&self, listener: &Arc<Listener>) {
        let mut listeners = self
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|one| one.strong_count() > 0);
        listeners.push(Arc::downgrade(listener));
    }

    /// Connections open on all listeners.
    pub(crate) fn connections(&self) -> usize {
        let listeners = self
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        listeners
            .iter()
            .filter_map(Weak::upgrade)
            .map(|listener| listener.connections())
            .sum()
    }
}

impl InstanceHandle {
    pub(crate) fn instance(&self) -> &Arc<Instance> {
        self.0
            .as_ref()
            .expect("the instance is taken out by the destructor alone")
    }

    /// Drops a dispatcher that is gone and fails its calls, which takes time in proportion to the calls in flight.
    fn lose(&self, pid: LocalPid) {
        let instance = self.instance();
        if let Some(route) = instance.dispatchers.remove(pid) {
            let calls = Arc::clone(&instance.calls);
            workers::elsewhere(move || calls.fail_route(route));
        }
    }
}

#[rustler::resource_impl]
impl Resource for InstanceHandle {
    fn down(&self, _env: Env<'_>, pid: LocalPid, _monitor: Monitor) {
        self.lose(pid);
    }
}

impl Drop for InstanceHandle {
    fn drop(&mut self) {
        let instance = self.0.take();
        workers::elsewhere(move || drop(instance));
    }
}

fn config(options: Options<'_>) -> Result<Config, Fault> {
    Ok(Config {
        server_info: server_info::read(options.get(atoms::server_info())?)?,
        instructions: options.get(atoms::instructions())?,
        page_size: options.get(atoms::page_size())?,
        caller_catalog: options.get(atoms::caller_catalog())?,
        json: mcp_json::Limits {
            max_depth: options.get(atoms::max_depth())?,
            max_number_digits: options.get(atoms::max_number_digits())?,
        },
        schema: mcp_schema::Limits {
            max_depth: options.get(atoms::schema_max_depth())?,
            max_cost: options.get(atoms::schema_max_cost())?,
            ..mcp_schema::Limits::default()
        },
        call_timeout_ms: options.get(atoms::call_timeout_ms())?,
        stream_after_ms: options.get(atoms::stream_after_ms())?,
        request_state_ttl_ms: options.get(atoms::request_state_ttl_ms())?,
        log_level: log_level(options)?,
        hook_timeout_ms: options.get(atoms::hook_timeout_ms())?,
        max_result_bytes: options.get(atoms::max_result_bytes())?,
        context_headers: options.get(atoms::context_headers())?,
        cache: cache_hints(options)?,
        allow_public_cache: options.get(atoms::allow_public_cache())?,
        completes: options.get(atoms::completes())?,
        shared_sessions: options.get(atoms::shared_sessions())?,
        rates: rates(options)?,
        tells_decisions: options.get(atoms::tells_decisions())?,
        keeps_tasks: options.get(atoms::shared_tasks())?,
        scopes: scopes::read(options)?,
    })
}

/// `{count, per_ms}` for each kind of work that has a limit.
fn rates(options: Options<'_>) -> Result<Rates, Fault> {
    let limits = Options(options.get(atoms::rate_limits())?);
    let rate = |key: Atom| {
        let rate: Option<(u32, u64)> = limits.get(key)?;
        Ok(rate.map(|(count, per_ms)| Rate { count, per_ms }))
    };
    Ok(Rates::new(
        rate(atoms::calls())?,
        rate(atoms::completions())?,
        rate(atoms::subscriptions())?,
    ))
}

/// `{ttl_ms, scope}` for each category of answers.
fn cache_hints(options: Options<'_>) -> Result<CacheHints, Fault> {
    let categories = Options(options.get(atoms::cache())?);
    let hint = |category: Atom| {
        let (ttl_ms, scope) = categories.get(category)?;
        let scope = cache_scope(scope);
        Ok(CacheHint { ttl_ms, scope })
    };
    Ok(CacheHints {
        discover: hint(atoms::discover())?,
        tools: hint(atoms::tools())?,
        resources: hint(atoms::resources())?,
        prompts: hint(atoms::prompts())?,
        contents: hint(atoms::contents())?,
    })
}

fn secrets(options: Options<'_>) -> Result<Vec<Vec<u8>>, Fault> {
    let secrets: Vec<Binary<'_>> = options.get(atoms::secrets())?;
    Ok(secrets.into_iter().map(|secret| secret.to_vec()).collect())
}

fn log_level(options: Options<'_>) -> Result<LogLevel, Fault> {
    let name: String = options.get(atoms::log_level())?;
    LogLevel::parse(&name).ok_or_else(|| options::wrong(atoms::log_level(), "no log level"))
}
