//! Checks whether a scenario can be measured: its required fields, and which values fit together.

use crate::{
    certificates,
    noop::NoopLibrary,
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Operation, Protocol, Resumption,
        Scenario, Variant,
    },
    workloads::{self, quic_packet::SIZES},
};

/// Plaintext bytes that every library accepts as the largest record size: OpenSSL rejects less than
/// 512, and a TLS record holds at most 16 KiB.
const RECORD_SIZES: std::ops::RangeInclusive<u32> = 512..=16_384;

/// Why a scenario cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The field that is wrong or missing.
    pub field: &'static str,
    /// The value found, and the one expected.
    pub message: String,
}

/// Refuses a scenario because of a field, if it is wrong.
fn refuse(
    is_wrong: bool,
    field: &'static str,
    message: impl FnOnce() -> String,
) -> Result<(), Fault> {
    match is_wrong {
        true => Err(Fault {
            field,
            message: message(),
        }),
        false => Ok(()),
    }
}

/// Quotes values for messages: `"a", "b"`.
fn quoted<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    let words = values
        .into_iter()
        .map(|it| format!("\"{}\"", it.to_string()));
    words.collect::<Vec<_>>().join(", ")
}

impl CipherSuite {
    /// The only TLS version that defines this cipher suite.
    pub fn protocol(self) -> Protocol {
        match self.as_str().contains("_WITH_") {
            true => Protocol::Tls12,
            false => Protocol::Tls13,
        }
    }

    /// Whether a server with this certificate can use it. TLS 1.3 cipher suites fit any
    /// certificate.
    fn fits(self, certificate: Certificate) -> bool {
        let is_rsa = matches!(certificate, Certificate::Rsa2048 | Certificate::Rsa4096);
        match self.protocol() {
            Protocol::Tls13 => true,
            Protocol::Tls12 => self.as_str().starts_with("TLS_ECDHE_RSA_") == is_rsa,
        }
    }
}

impl Scenario {
    /// Checks that the scenario states every required field, and that no field contradicts another.
    pub fn check(&self) -> Result<(), Fault> {
        if let Some(side) = self.side {
            let message = || format!("found \"{side}\", expected none: both sides are measured");
            refuse(true, "side", message)?;
        }
        if let Some(variant) = &self.variant {
            let kinds = workloads::of::<NoopLibrary>(self.operation).variants();
            let checked = variant.check(self.operation, kinds);
            checked.or_else(|error| refuse(true, "variant", || error.to_string()))?;
        }
        if self.operation == Operation::QuicPacket {
            return self.check_packet();
        }
        if self.operation == Operation::Primitive {
            return self.check_primitive();
        }
        self.check_stated()?;
        self.check_pinned()?;
        self.check_variant()?;
        match self.operation {
            Operation::Transfer => self.check_transfer(),
            Operation::SetUp => self.check_threads("set-up, expected 1"),
            Operation::Connection => {
                self.check_threads("connection, expected 1: each side is a process")
            }
            _ => Ok(()),
        }
    }

    /// Requires a field of this kind.
    fn require<T: ToString>(
        &self,
        is_stated: bool,
        field: &'static str,
        values: impl IntoIterator<Item = T>,
    ) -> Result<(), Fault> {
        self.require_such_as(is_stated, field, || quoted(values))
    }

    fn require_such_as(
        &self,
        is_stated: bool,
        field: &'static str,
        expected: impl FnOnce() -> String,
    ) -> Result<(), Fault> {
        refuse(!is_stated, field, || {
            format!("missing in a {}: expected {}", self.operation, expected())
        })
    }

    /// Refuses fields that only other scenarios use.
    fn refuse_fields(&self, fields: &[(&'static str, bool)], whose: &str) -> Result<(), Fault> {
        fields.iter().try_for_each(|(field, is_stated)| {
            refuse(*is_stated, field, || {
                format!("found in a {}, expected in {whose} only", self.operation)
            })
        })
    }

    fn refuse_sizes(&self) -> Result<(), Fault> {
        let sizes = [
            ("size", self.size.is_some()),
            ("in_flight", self.in_flight.is_some()),
            ("record_size", self.record_size.is_some()),
        ];
        self.refuse_fields(&sizes, "transfers")
    }

    fn refuse_connection(&self) -> Result<(), Fault> {
        let connection = [
            ("protocol", self.protocol.is_some()),
            ("key_exchange", self.key_exchange.is_some()),
            ("certificate", self.certificate.is_some()),
            ("authentication", self.authentication.is_some()),
            ("resumption", self.resumption.is_some()),
        ];
        self.refuse_fields(&connection, "scenarios with connections")
    }

    fn check_primitive(&self) -> Result<(), Fault> {
        self.require_such_as(self.variant.is_some(), "variant", || {
            "a primitive such as \"rsa-2048-sign\"".into()
        })?;
        self.refuse_sizes()?;
        let suite = [("cipher_suite", self.cipher_suite.is_some())];
        self.refuse_fields(&suite, "scenarios with connections")?;
        self.refuse_connection()
    }

    /// Checks a packet of QUIC: it states a cipher suite of TLS 1.3 and a size, and no connection.
    fn check_packet(&self) -> Result<(), Fault> {
        let usable = CipherSuite::ALL.iter();
        let usable: Vec<_> = usable
            .filter(|suite| suite.protocol() == Protocol::Tls13)
            .collect();
        self.require(self.cipher_suite.is_some(), "cipher_suite", &usable)?;
        if let Some(suite) = self.cipher_suite {
            refuse(suite.protocol() != Protocol::Tls13, "cipher_suite", || {
                let expected = quoted(usable);
                format!("found \"{suite}\", which QUIC lacks, expected {expected}")
            })?;
        }
        let expected = || format!("{} to {} bytes, such as 1200", SIZES.start(), SIZES.end());
        self.require_such_as(self.size.is_some(), "size", expected)?;
        if let Some(size) = self.size {
            refuse(!SIZES.contains(&size), "size", || {
                format!("found {size}, expected {}", expected())
            })?;
        }
        self.refuse_connection()?;
        let sizes = [
            ("in_flight", self.in_flight.is_some()),
            ("record_size", self.record_size.is_some()),
        ];
        self.refuse_fields(&sizes, "scenarios with connections")
    }

    /// Checks the fields that scenarios with connections require.
    fn check_stated(&self) -> Result<(), Fault> {
        self.require(self.protocol.is_some(), "protocol", Protocol::ALL)?;
        let suites = CipherSuite::ALL.iter();
        let suites = suites.filter(|suite| Some(suite.protocol()) == self.protocol);
        self.require(self.cipher_suite.is_some(), "cipher_suite", suites)?;
        self.require(self.certificate.is_some(), "certificate", Certificate::ALL)?;
        let authentication = self.authentication.is_some();
        self.require(authentication, "authentication", Authentication::ALL)?;
        let resumptions = &Resumption::ALL[..3];
        self.require(self.resumption.is_some(), "resumption", resumptions)?;
        // A TLS 1.2 resumption exchanges no keys, and a ClientHello's variant names its key shares.
        let exchanges = match self.operation {
            Operation::ClientHello => self.variant.is_none(),
            _ => {
                self.protocol == Some(Protocol::Tls13) || self.resumption == Some(Resumption::None)
            }
        };
        let key_exchange = !exchanges || self.key_exchange.is_some();
        self.require(key_exchange, "key_exchange", KeyExchange::ALL)?;
        self.require_such_as(self.threads.is_some(), "threads", || {
            "a number such as 1, \"one-and-cores\" or \"past-cores\"".into()
        })?;
        if self.operation != Operation::Transfer {
            self.refuse_sizes()?;
        }
        let size = self.operation != Operation::Transfer || self.size.is_some();
        self.require_such_as(size, "size", || {
            "the bytes of a write, such as 65536".into()
        })?;
        let variant = self.operation != Operation::SetUp || self.variant.is_some();
        self.require_such_as(variant, "variant", || {
            "what is set up, such as \"client-mozilla\"".into()
        })
    }

    /// Checks that the values of a connection fit together.
    fn check_pinned(&self) -> Result<(), Fault> {
        let (Some(protocol), Some(suite), Some(certificate)) =
            (self.protocol, self.cipher_suite, self.certificate)
        else {
            return Ok(());
        };
        let fits = |it: &&CipherSuite| it.protocol() == protocol && it.fits(certificate);
        let fitting = || quoted(CipherSuite::ALL.iter().filter(fits));
        refuse(suite.protocol() != protocol, "cipher_suite", || {
            format!(
                "found \"{suite}\", which TLS {protocol} lacks, expected {}",
                fitting()
            )
        })?;
        refuse(!suite.fits(certificate), "cipher_suite", || {
            format!(
                "found \"{suite}\", which does not fit a certificate {certificate}, expected {}",
                fitting()
            )
        })?;
        refuse(
            self.resumption == Some(Resumption::Resumed),
            "resumption",
            || {
                "found \"resumed\", which is for data of other tools, expected \"none\", \
             \"session-id\" or \"ticket\""
                    .into()
            },
        )?;
        let resumable = [Operation::Handshake, Operation::Connection].contains(&self.operation);
        refuse(self.resumes() && !resumable, "resumption", || {
            format!(
                "found in a {}, expected \"none\": only handshakes and connections are resumed",
                self.operation
            )
        })?;
        if protocol == Protocol::Tls13 {
            return Ok(());
        }
        refuse(certificate.is_ml_dsa(), "certificate", || {
            let others = quoted(Certificate::ALL.iter().filter(|it| !it.is_ml_dsa()));
            format!("found \"{certificate}\", which TLS 1.2 lacks, expected {others}")
        })?;
        if let Some(group) = self.key_exchange {
            refuse(group.has_ml_kem(), "key_exchange", || {
                let others = quoted(KeyExchange::ALL.iter().filter(|it| !it.has_ml_kem()));
                format!("found \"{group}\", which TLS 1.2 lacks, expected {others}")
            })?;
        }
        if let Some(variant) = &self.variant {
            let is_newer = matches!(
                variant,
                Variant::HelloRetry
                    | Variant::KeyShares(_)
                    | Variant::Compressed
                    | Variant::EarlyData
            );
            refuse(is_newer, "variant", || {
                format!("found \"{variant}\" with protocol \"1.2\", expected \"1.3\"")
            })?;
        }
        Ok(())
    }

    fn resumes(&self) -> bool {
        self.resumption != Some(Resumption::None)
    }

    fn is_mutual(&self) -> bool {
        self.authentication == Some(Authentication::Mutual)
    }

    /// Checks what some variants require of the other fields.
    fn check_variant(&self) -> Result<(), Fault> {
        let (Some(variant), Some(resumption), Some(certificate)) =
            (&self.variant, self.resumption, self.certificate)
        else {
            return Ok(());
        };
        let sends_certificates = || {
            refuse(self.resumes(), "resumption", || {
                format!(
                    "found \"{resumption}\" with variant \"{variant}\", expected \"none\": resumed \
                     handshakes send no certificates"
                )
            })
        };
        match variant {
            Variant::Chain(chain) => {
                sends_certificates()?;
                let authority = certificates::in_chain(*chain, certificate).map(drop);
                authority.or_else(|error| refuse(true, "certificate", || error.to_string()))
            }
            Variant::Compressed => {
                sends_certificates()?;
                refuse(self.is_mutual(), "authentication", || {
                    format!(
                        "found \"mutual\" with variant \"{variant}\", expected \"server\": only \
                         servers compress their certificates here"
                    )
                })
            }
            Variant::EarlyData => refuse(!self.resumes(), "resumption", || {
                "found \"none\" with variant \"early-data\", expected \"session-id\" or \
                 \"ticket\": only resumed handshakes have early data"
                    .into()
            }),
            Variant::OwnTickets => {
                refuse(self.protocol != Some(Protocol::Tls12), "protocol", || {
                    "found \"1.3\" with variant \"own-tickets\", expected \"1.2\": every library \
                     renews tickets of TLS 1.3"
                        .into()
                })?;
                refuse(resumption != Resumption::Ticket, "resumption", || {
                    format!(
                        "found \"{resumption}\" with variant \"own-tickets\", expected \"ticket\""
                    )
                })
            }
            Variant::Server(server) => {
                refuse(self.resumes(), "resumption", || {
                    format!("found in a connection to {server}, expected \"none\"")
                })?;
                refuse(self.is_mutual(), "authentication", || {
                    format!("found in a connection to {server}, expected \"server\"")
                })
            }
            Variant::SetUp(set_up) => {
                refuse(self.is_mutual(), "authentication", || {
                    "found \"mutual\" in a set-up, expected \"server\": clients load no key".into()
                })?;
                let is_wrong = set_up.named().is_some() && certificate != Certificate::EcdsaP256;
                refuse(is_wrong, "certificate", || {
                    format!(
                        "found \"{certificate}\" with variant \"{set_up}\", expected \
                         \"ecdsa-p256\": all certificates with names of their own are"
                    )
                })
            }
            _ => Ok(()),
        }
    }

    fn check_threads(&self, of: &str) -> Result<(), Fault> {
        refuse(self.threads != Some(1), "threads", || {
            format!("found several threads in a {of}")
        })
    }

    fn check_transfer(&self) -> Result<(), Fault> {
        if let Some(size) = self.record_size {
            refuse(!RECORD_SIZES.contains(&size), "record_size", || {
                let (least, most) = (RECORD_SIZES.start(), RECORD_SIZES.end());
                format!("found {size}, expected {least} to {most} bytes")
            })?;
        }
        let workload = workloads::of::<NoopLibrary>(self.operation);
        let work = workload.countable().map(|it| it.work(self)).transpose();
        work.map(drop).or_else(|error| {
            let field = self.in_flight.map_or("size", |_| "in_flight");
            refuse(true, field, || error.to_string())
        })
    }
}

#[cfg(test)]
mod tests;
