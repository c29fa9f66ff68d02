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

fn fault(field: &'static str, message: impl Into<String>) -> Fault {
    Fault {
        field,
        message: message.into(),
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
    ///
    /// # Errors
    ///
    /// The first missing or wrong field.
    pub fn check(&self) -> Result<(), Fault> {
        if let Some(side) = self.side {
            return Err(fault(
                "side",
                format!("found \"{side}\", expected none: both sides are measured"),
            ));
        }
        let kinds = workloads::of::<NoopLibrary>(self.operation).variants();
        if let Some(variant) = &self.variant {
            let checked = variant.check(self.operation, kinds);
            checked.map_err(|error| fault("variant", error.to_string()))?;
        }
        if self.operation == Operation::QuicPacket {
            return self.check_packet();
        }
        self.check_stated()?;
        self.check_unneeded()?;
        if self.operation != Operation::Primitive {
            self.check_pinned()?;
        }
        self.check_chain()?;
        self.check_compressed()?;
        if self.operation == Operation::SetUp {
            self.check_set_up()?;
        }
        if self.operation == Operation::Transfer {
            self.check_transfer()?;
        }
        if self.operation == Operation::Connection && self.threads != Some(1) {
            let message =
                "found several threads in a connection, expected 1: each side is a process";
            return Err(fault("threads", message));
        }
        if let Some(Variant::Server(server)) = self.variant {
            if self.resumption != Some(Resumption::None) {
                let message = format!("found in a connection to {server}, expected \"none\"");
                return Err(fault("resumption", message));
            }
            if self.authentication != Some(Authentication::Server) {
                let message = format!("found in a connection to {server}, expected \"server\"");
                return Err(fault("authentication", message));
            }
        }
        Ok(())
    }

    /// The fault that a field is missing.
    fn missing(&self, field: &'static str, expected: &str) -> Fault {
        let message = format!("missing in a {}: expected {expected}", self.operation);
        fault(field, message)
    }

    /// Checks the fields that each kind requires.
    fn check_stated(&self) -> Result<(), Fault> {
        let missing = |field, expected: String| Err(self.missing(field, &expected));
        if self.operation == Operation::Primitive {
            return match self.variant {
                Some(_) => Ok(()),
                None => missing("variant", "a primitive such as \"rsa-2048-sign\"".into()),
            };
        }
        let Some(protocol) = self.protocol else {
            return missing("protocol", quoted(Protocol::ALL));
        };
        if self.cipher_suite.is_none() {
            let all = CipherSuite::ALL.iter();
            return missing(
                "cipher_suite",
                quoted(all.filter(|suite| suite.protocol() == protocol)),
            );
        }
        if self.certificate.is_none() {
            return missing("certificate", quoted(Certificate::ALL));
        }
        if self.authentication.is_none() {
            return missing("authentication", quoted(Authentication::ALL));
        }
        if self.resumption.is_none() {
            return missing("resumption", quoted(&Resumption::ALL[..3]));
        }
        // A TLS 1.2 resumption exchanges no keys, and a ClientHello's variant names its key shares.
        let exchanges = match self.operation {
            Operation::ClientHello => self.variant.is_none(),
            _ => protocol == Protocol::Tls13 || self.resumption == Some(Resumption::None),
        };
        if exchanges && self.key_exchange.is_none() {
            return missing("key_exchange", quoted(KeyExchange::ALL));
        }
        if self.threads.is_none() {
            let expected = "a number such as 1, \"one-and-cores\" or \"past-cores\"";
            return missing("threads", expected.into());
        }
        if self.operation == Operation::Transfer && self.size.is_none() {
            return missing("size", "the bytes of a write, such as 65536".into());
        }
        if self.operation == Operation::SetUp && self.variant.is_none() {
            return missing(
                "variant",
                "what is set up, such as \"client-mozilla\"".into(),
            );
        }
        Ok(())
    }

    /// Rejects fields that a kind does not use.
    fn check_unneeded(&self) -> Result<(), Fault> {
        let transfers = [
            ("size", self.size.is_some()),
            ("in_flight", self.in_flight.is_some()),
            ("record_size", self.record_size.is_some()),
        ];
        let connections = [
            ("protocol", self.protocol.is_some()),
            ("cipher_suite", self.cipher_suite.is_some()),
            ("key_exchange", self.key_exchange.is_some()),
            ("certificate", self.certificate.is_some()),
            ("authentication", self.authentication.is_some()),
            ("resumption", self.resumption.is_some()),
        ];
        if self.operation != Operation::Transfer {
            self.unneeded(&transfers, "transfers")?;
        }
        if self.operation == Operation::Primitive {
            self.unneeded(&connections, "scenarios with connections")?;
        }
        Ok(())
    }

    /// Rejects the fields that are stated, though only other scenarios use them.
    fn unneeded(&self, fields: &[(&'static str, bool)], whose: &str) -> Result<(), Fault> {
        match fields.iter().find(|(_, is_stated)| *is_stated) {
            Some((field, _)) => Err(fault(
                field,
                format!("found in a {}, expected in {whose} only", self.operation),
            )),
            None => Ok(()),
        }
    }

    /// Checks a packet of QUIC: it states a cipher suite of TLS 1.3 and a size, and no connection.
    fn check_packet(&self) -> Result<(), Fault> {
        let usable = CipherSuite::ALL.iter();
        let usable = quoted(usable.filter(|suite| suite.protocol() == Protocol::Tls13));
        let Some(suite) = self.cipher_suite else {
            return Err(self.missing("cipher_suite", &usable));
        };
        if suite.protocol() != Protocol::Tls13 {
            let message = format!("found \"{suite}\", which QUIC lacks, expected {usable}");
            return Err(fault("cipher_suite", message));
        }
        let expected = format!("{} to {} bytes, such as 1200", SIZES.start(), SIZES.end());
        let Some(size) = self.size else {
            return Err(self.missing("size", &expected));
        };
        if !SIZES.contains(&size) {
            return Err(fault("size", format!("found {size}, expected {expected}")));
        }
        let fields = [
            ("protocol", self.protocol.is_some()),
            ("key_exchange", self.key_exchange.is_some()),
            ("certificate", self.certificate.is_some()),
            ("authentication", self.authentication.is_some()),
            ("resumption", self.resumption.is_some()),
            ("in_flight", self.in_flight.is_some()),
            ("record_size", self.record_size.is_some()),
        ];
        self.unneeded(&fields, "scenarios with connections")
    }

    /// Checks that the values of a connection fit together.
    fn check_pinned(&self) -> Result<(), Fault> {
        let (Some(protocol), Some(suite), Some(certificate)) =
            (self.protocol, self.cipher_suite, self.certificate)
        else {
            return Ok(());
        };
        let fits = |it: &&CipherSuite| it.protocol() == protocol && it.fits(certificate);
        let fitting = quoted(CipherSuite::ALL.iter().filter(fits));
        if suite.protocol() != protocol {
            let message =
                format!("found \"{suite}\", which TLS {protocol} lacks, expected {fitting}");
            return Err(fault("cipher_suite", message));
        }
        if !suite.fits(certificate) {
            let message = format!(
                "found \"{suite}\", which does not fit a certificate {certificate}, expected {fitting}"
            );
            return Err(fault("cipher_suite", message));
        }
        if self.resumption == Some(Resumption::Resumed) {
            let message = "found \"resumed\", which is for data of other tools, expected \"none\", \
                           \"session-id\" or \"ticket\"";
            return Err(fault("resumption", message));
        }
        let resumes = self.resumption != Some(Resumption::None);
        let resumable = [Operation::Handshake, Operation::Connection];
        if resumes && !resumable.contains(&self.operation) {
            let message = format!(
                "found in a {}, expected \"none\": only handshakes and connections are resumed",
                self.operation
            );
            return Err(fault("resumption", message));
        }
        if protocol == Protocol::Tls13 {
            return Ok(());
        }
        if certificate.is_ml_dsa() {
            let others = Certificate::ALL.iter().filter(|it| !it.is_ml_dsa());
            let message = format!(
                "found \"{certificate}\", which TLS 1.2 lacks, expected {}",
                quoted(others)
            );
            return Err(fault("certificate", message));
        }
        if let Some(group) = self.key_exchange.filter(|it| it.has_ml_kem()) {
            let others = KeyExchange::ALL.iter().filter(|it| !it.has_ml_kem());
            let message = format!(
                "found \"{group}\", which TLS 1.2 lacks, expected {}",
                quoted(others)
            );
            return Err(fault("key_exchange", message));
        }
        match &self.variant {
            Some(variant @ (Variant::HelloRetry | Variant::KeyShares(_) | Variant::Compressed)) => {
                Err(fault(
                    "variant",
                    format!("found \"{variant}\" with protocol \"1.2\", expected \"1.3\""),
                ))
            }
            _ => Ok(()),
        }
    }

    /// Checks that there are certificates in the chain that the variant names, and that they are
    /// sent.
    fn check_chain(&self) -> Result<(), Fault> {
        let (Some(chain), Some(certificate)) = (self.chain(), self.certificate) else {
            return Ok(());
        };
        if let Some(resumption) = self.resumption.filter(|it| *it != Resumption::None) {
            let message = format!(
                "found \"{resumption}\" with variant \"{chain}\", expected \"none\": resumed \
                 handshakes send no certificates"
            );
            return Err(fault("resumption", message));
        }
        let authority = certificates::in_chain(chain, certificate);
        authority
            .map(drop)
            .map_err(|error| fault("certificate", error.to_string()))
    }

    /// Checks that a server alone compresses its certificates, and that it sends them.
    fn check_compressed(&self) -> Result<(), Fault> {
        let Some(variant @ Variant::Compressed) = &self.variant else {
            return Ok(());
        };
        if let Some(resumption) = self.resumption.filter(|it| *it != Resumption::None) {
            let message = format!(
                "found \"{resumption}\" with variant \"{variant}\", expected \"none\": resumed \
                 handshakes send no certificates"
            );
            return Err(fault("resumption", message));
        }
        if self.authentication == Some(Authentication::Mutual) {
            let message = format!(
                "found \"mutual\" with variant \"{variant}\", expected \"server\": only servers \
                 compress their certificates here"
            );
            return Err(fault("authentication", message));
        }
        Ok(())
    }

    fn check_set_up(&self) -> Result<(), Fault> {
        let Some(Variant::SetUp(set_up)) = self.variant else {
            return Ok(());
        };
        if self.authentication == Some(Authentication::Mutual) {
            let message = "found \"mutual\" in a set-up, expected \"server\": clients load no key";
            return Err(fault("authentication", message));
        }
        if self.threads != Some(1) {
            let message = "found several threads in a set-up, expected 1";
            return Err(fault("threads", message));
        }
        let (Some(certificate), Some(_)) = (self.certificate, set_up.named()) else {
            return Ok(());
        };
        if certificate != Certificate::EcdsaP256 {
            let message = format!(
                "found \"{certificate}\" with variant \"{set_up}\", expected \"ecdsa-p256\": all \
                 certificates with names of their own are"
            );
            return Err(fault("certificate", message));
        }
        Ok(())
    }

    fn check_transfer(&self) -> Result<(), Fault> {
        if let Some(size) = self.record_size
            && !RECORD_SIZES.contains(&size)
        {
            let message = format!(
                "found {size}, expected {} to {} bytes",
                RECORD_SIZES.start(),
                RECORD_SIZES.end()
            );
            return Err(fault("record_size", message));
        }
        let workload = workloads::of::<NoopLibrary>(self.operation);
        let work = workload.countable().map(|it| it.work(self)).transpose();
        work.map(drop).map_err(|error| {
            let field = self.in_flight.map_or("size", |_| "in_flight");
            fault(field, error.to_string())
        })
    }
}

#[cfg(test)]
mod tests;
