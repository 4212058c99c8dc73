//! The bar for `resources/read`: hyper on a current-thread runtime writes 1 MiB in Base64 into the answer for each
//! request, which it does not look at.

use std::{convert::Infallible, env, error::Error, net::Ipv4Addr};

use base64::{Engine, engine::general_purpose::STANDARD};
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

type Fault = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Fault> {
    let port: u16 = env::var("PORT")?.parse()?;
    let blob: Bytes = (0..=255).cycle().take(BLOB_BYTES).collect();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    println!("READY {port}");
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let blob = blob.clone();
        let service = service_fn(move |request| read(request, blob.clone()));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn read(
    request: Request<Incoming>,
    blob: Bytes,
) -> Result<Response<Full<Bytes>>, Infallible> {
    // Read to its end, so that the connection can be kept.
    let _body = request.into_body().collect().await;
    let mut response = Response::new(Full::new(answer(&blob).into()));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// Written once, into room enough for all of it.
fn answer(blob: &[u8]) -> String {
    let bytes = START.len() + blob.len().div_ceil(3) * 4 + END.len();
    let mut json = String::with_capacity(bytes);
    json.push_str(START);
    STANDARD.encode_string(blob, &mut json);
    json.push_str(END);
    json
}

const BLOB_BYTES: usize = 1_048_576;

/// The answer around the text, as the library gives it.
const START: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"bench://blob","blob":""#;
const END: &str = concat!(
    r#""}],"ttlMs":0,"cacheScope":"private","resultType":"complete","_meta":{"#,
    r#""io.modelcontextprotocol/serverInfo":{"name":"beam_mcp","version":"0.1.0"}}}}"#,
);
