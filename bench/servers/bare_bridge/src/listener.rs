//! The HTTP side: one thread, one current-thread runtime.

use std::{
    cell::RefCell, error::Error, io, net::Ipv4Addr, net::TcpListener as StdListener, thread,
};

use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use rustler::{Encoder, LocalPid, OwnedEnv, ResourceArc};
use serde_json::Value;
use tokio::{net::TcpListener, runtime};

use crate::{arguments::Arguments, token::Token};

mod atoms {
    rustler::atoms! { call }
}

/// Binds, then serves from a new thread until the VM ends.
pub(crate) fn start(port: u16, dispatcher: LocalPid) -> io::Result<()> {
    let listener = StdListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
    thread::Builder::new()
        .name("bare_bridge".into())
        .spawn(move || runtime.block_on(accept(listener, dispatcher)))?;
    Ok(())
}

async fn accept(listener: StdListener, dispatcher: LocalPid) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = service_fn(move |request| answer(request, dispatcher));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn answer(
    request: Request<Incoming>,
    dispatcher: LocalPid,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let body = request.into_body().collect().await?.to_bytes();
    let mut response = Response::new(Full::default());
    match call(&body, dispatcher).await {
        Ok(json) => *response.body_mut() = Full::new(json),
        Err(_) => *response.status_mut() = StatusCode::BAD_REQUEST,
    }
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

async fn call(body: &[u8], dispatcher: LocalPid) -> Result<Bytes, Box<dyn Error + Send + Sync>> {
    let message: Value = serde_json::from_slice(body)?;
    let id = message["id"].as_u64().ok_or("no id")?;
    let (token, answer) = Token::new(id);
    send(dispatcher, ResourceArc::new(token), &message["params"]);
    Ok(answer.await?)
}

fn send(dispatcher: LocalPid, token: ResourceArc<Token>, params: &Value) {
    // One message environment for the thread: made once, cleared by each send.
    thread_local! { static MESSAGE: RefCell<OwnedEnv> = RefCell::new(OwnedEnv::new()); }
    MESSAGE.with_borrow_mut(|message| {
        // Without a dispatcher the token is dropped with the message, and the call answers 400.
        let _ = message.send_and_clear(&dispatcher, |env| {
            (
                atoms::call(),
                token,
                params["name"].as_str(),
                Arguments(&params["arguments"]),
            )
                .encode(env)
        });
    });
}
