//! A server of the system's packages, as an operator configures it for TLS. It runs as one process
//! with one thread, answers each request of HTTP without a body, and closes the connection.

use std::{
    env, fs,
    io::{self, ErrorKind},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{self, Child, Command},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Pid;

use crate::{
    certificates::authority,
    implementation::Implementation,
    library::Setup,
    process::end_with_this_thread,
    scenario::{CipherSuite, Protocol, Scenario, Server},
    workloads::threads::pin_process,
};

/// What a client sends. A server of HTTP/1.0 closes the connection after its answer.
pub const REQUEST: &[u8] = b"GET / HTTP/1.0\r\n\r\n";

/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(10);

/// Neither server has a setting that turns off all tickets of TLS 1.3; OpenSSL's own configuration has.
const OPENSSL_CONFIG: &str = "\
openssl_conf = all
[all]
ssl_conf = libraries
[libraries]
system_default = every
[every]
NumTickets = 0
";

/// Why a server cannot be measured beside a library, if so: it is not installed, or uses another
/// version of OpenSSL.
pub fn unsupported(server: Server, library: &Implementation) -> Result<Option<String>> {
    let Some(found) = openssl_of(server)? else {
        let reason = format!("{server} is not installed: apt-get install {server}");
        ensure!(env::var_os("CI").is_none(), reason);
        return Ok(Some(reason));
    };
    let is_same = library.library == "openssl" && library.version == found;
    Ok((!is_same).then(|| format!("{server} uses OpenSSL {found}")))
}

/// The version of OpenSSL that a server runs with; none if it is not installed.
fn openssl_of(server: Server) -> Result<Option<String>> {
    let argument = match server {
        Server::Nginx => "-V",
        Server::Haproxy => "-vv",
    };
    let Some(output) = program(server, |it| it.arg(argument).output())? else {
        return Ok(None);
    };
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let found = version(&text).with_context(|| format!("{server} {argument}: found {text:?}"))?;
    Ok(Some(found.into()))
}

/// The version after the last of these, the library that is loaded.
fn version(text: &str) -> Option<&str> {
    let places = [
        "running with OpenSSL ",
        "Running on OpenSSL version : OpenSSL ",
        "built with OpenSSL ",
    ];
    let found = places.iter().find_map(|it| text.split_once(it));
    found.and_then(|(_, rest)| rest.split_whitespace().next())
}

/// Where Debian has servers, which users may not have in their path.
fn places(server: Server) -> [PathBuf; 2] {
    let name = server.as_str();
    [PathBuf::from(name), Path::new("/usr/sbin").join(name)]
}

/// Runs a server's program, with what `run` adds to its command; none if it is not installed.
fn program<T>(
    server: Server,
    mut run: impl FnMut(&mut Command) -> io::Result<T>,
) -> Result<Option<T>> {
    for place in places(server) {
        match run(&mut Command::new(&place)) {
            Ok(run) => return Ok(Some(run)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| place.display().to_string()),
        }
    }
    Ok(None)
}

/// A server that runs. Dropping it kills the process and removes its files.
pub struct Serving {
    child: Child,
    folder: Folder,
    pub port: u16,
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // A process that has ended cannot be killed, and is no longer there to be.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    /// Starts a server with the certificate and the parameters of a scenario.
    pub fn start(server: Server, scenario: &Scenario) -> Result<Self> {
        let setup = Setup::server(scenario)?;
        let name = format!("tls-server-{}", process::id());
        let folder = Folder(env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).with_context(|| folder.0.display().to_string())?;
        let identity = authority(setup.certificate).server;
        let pem = format!("{}\n{}", identity.chain, identity.key);
        fs::write(folder.0.join("server.pem"), pem)?;
        fs::write(folder.0.join("openssl.cnf"), OPENSSL_CONFIG)?;
        // A free port: it is closed again, for the server to open.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let file = folder.0.join("server.conf");
        let arguments: Vec<&str> = match server {
            Server::Nginx => vec!["-e", "stderr", "-c"],
            Server::Haproxy => vec!["-db", "-q", "-f"],
        };
        fs::write(&file, text(server, &setup, scenario, &folder.0, port)?)?;
        let started = program(server, |command| {
            command.args(&arguments).arg(&file);
            command.env("OPENSSL_CONF", folder.0.join("openssl.cnf"));
            end_with_this_thread(command);
            command.spawn()
        })?;
        let mut serving = Self {
            child: started.with_context(|| format!("{server} is not installed"))?,
            folder,
            port,
        };
        pin_process(Pid::from_raw(serving.child.id().cast_signed()), 1)?;
        serving.wait(server)?;
        Ok(serving)
    }

    /// The server's process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    fn wait(&mut self, server: Server) -> Result<()> {
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("{server}: {status}");
            }
            ensure!(
                start.elapsed() < PATIENCE,
                "{server} does not listen after {PATIENCE:?}"
            );
            thread::sleep(Duration::from_millis(20));
        }
        ensure!(self.folder.0.is_dir(), "the folder of {server} is gone");
        Ok(())
    }
}

/// OpenSSL's name of a cipher suite.
fn cipher_name(suite: CipherSuite) -> String {
    match suite.protocol() {
        Protocol::Tls13 => suite.as_str().into(),
        Protocol::Tls12 => {
            let name = suite.as_str().replace("TLS_", "").replace("_WITH", "");
            name.replace("AES_", "AES").replace('_', "-")
        }
    }
}

/// The server's configuration.
fn text(
    server: Server,
    setup: &Setup,
    scenario: &Scenario,
    folder: &Path,
    port: u16,
) -> Result<String> {
    let folder = folder.display();
    let cipher = cipher_name(setup.cipher_suite);
    let group = scenario.key_exchange.context("the scenario has no group")?;
    let protocol = setup.protocol;
    Ok(match server {
        Server::Nginx => {
            let ciphers = match protocol {
                Protocol::Tls12 => format!("ssl_ciphers {cipher};"),
                Protocol::Tls13 => format!("ssl_conf_command Ciphersuites {cipher};"),
            };
            format!(
                "daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr warn;
worker_processes 1;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
  uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {folder}/server.pem;
    ssl_certificate_key {folder}/server.pem;
    ssl_protocols TLSv{protocol};
    {ciphers}
    ssl_ecdh_curve {group};
    ssl_session_tickets off;
    ssl_session_cache off;
    return 204;
  }}
}}
"
            )
        }
        Server::Haproxy => {
            let ciphers = match protocol {
                Protocol::Tls12 => format!("ciphers {cipher}"),
                Protocol::Tls13 => format!("ciphersuites {cipher}"),
            };
            format!(
                "global
  nbthread 1
  tune.ssl.cachesize 0
defaults
  mode http
  timeout client 10s
  timeout connect 10s
  timeout server 10s
frontend tls
  bind 127.0.0.1:{port} ssl crt {folder}/server.pem curves {group} {ciphers} ssl-min-ver TLSv{protocol} ssl-max-ver TLSv{protocol} no-tls-tickets
  http-request return status 204
"
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_openssl_is_the_one_that_is_loaded() {
        let nginx = "nginx version: nginx/1.22.1\nbuilt with OpenSSL 3.0.22 25 Aug 2026 \
                     (running with OpenSSL 3.0.19 27 Jan 2026)\n";
        assert_eq!(version(nginx), Some("3.0.19"));
        assert_eq!(version("built with OpenSSL 3.0.22 25 Aug"), Some("3.0.22"));
        let haproxy = "Built with OpenSSL version : OpenSSL 3.0.22 25 Aug 2026\n\
                       Running on OpenSSL version : OpenSSL 3.0.19 27 Jan 2026\n";
        assert_eq!(version(haproxy), Some("3.0.19"));
        assert_eq!(version("built without TLS"), None);
    }

    #[test]
    fn cipher_suites_have_the_names_of_openssl() {
        let name = |it: &str| {
            let all = CipherSuite::ALL.iter();
            cipher_name(*all.clone().find(|suite| suite.as_str() == it).unwrap())
        };
        assert_eq!(name("TLS_AES_256_GCM_SHA384"), "TLS_AES_256_GCM_SHA384");
        let old = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384";
        assert_eq!(name(old), "ECDHE-RSA-AES256-GCM-SHA384");
    }
}
