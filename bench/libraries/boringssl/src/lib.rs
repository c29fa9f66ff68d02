//! BoringSSL, as the package boring-sys brings it.

mod ffi;
#[path = "../../ssl.rs"]
mod ssl;

use anyhow::{Context as _, Result};
use tls_harness::{
    binary,
    implementation::{Implementation, Library},
    library::{Setup, TlsLibrary},
    scenario::{Operation, Protocol, Resumption, Scenario},
    transport::Endpoint,
};

use crate::ssl::{Context, ServerContext, SslConnection};

/// The BoringSSL that this program is linked with.
pub struct BoringSsl;

impl TlsLibrary for BoringSsl {
    type ClientConfig = Context;
    type ServerConfig = ServerContext;
    type Client<'a> = SslConnection<'a>;
    type Server<'a> = SslConnection<'a>;

    fn implementation(&self) -> Result<Implementation> {
        let package = binary::package_version(env!("PACKAGES"), "boring-sys");
        let package = package.context("Cargo.lock has no boring-sys")?;
        let compilers = binary::compilers()?;
        Ok(Implementation {
            // BoringSSL has no versions, and the package does not record the commit.
            id: format!("boringssl-boring-sys-{package}"),
            library: Library::BoringSsl,
            version: format!("boring-sys {package}, API {}", ffi::BORINGSSL_API_VERSION),
            commit: None,
            provider: None,
            provider_version: None,
            build: None,
            rust_compiler: compilers.rust,
            c_compiler: compilers.c,
            flags: Some(env!("BORINGSSL_FLAGS").into()),
            allocator: Some("system".into()),
            linkage: Some(binary::linkage("libssl")?),
            source: Some(format!("cargo package boring-sys {package}")),
            binary_sha256: None,
            note: Some("with the package's own patch boring-pq.patch".into()),
        })
    }

    fn missing(&self, scenario: &Scenario) -> Option<String> {
        let is = |protocol, resumption| {
            (scenario.protocol, scenario.resumption) == (Some(protocol), Some(resumption))
        };
        if is(Protocol::Tls13, Resumption::SessionId) {
            return Some("BoringSSL resumes TLS1.3 sessions by self-contained tickets only".into());
        }
        (scenario.operation == Operation::Primitive)
            .then(|| "the harness does not measure primitives yet".into())
    }

    fn client_config(&self, setup: &Setup) -> Result<Context> {
        Context::client(setup)
    }

    fn server_config(&self, setup: &Setup) -> Result<ServerContext> {
        Context::server(setup)
    }

    fn connect<'a>(
        &self,
        context: &'a Context,
        endpoint: &'a Endpoint,
    ) -> Result<SslConnection<'a>> {
        context.connect(endpoint)
    }

    fn accept<'a>(
        &self,
        context: &'a ServerContext,
        endpoint: &'a Endpoint,
    ) -> Result<SslConnection<'a>> {
        context.accept(endpoint)
    }
}
