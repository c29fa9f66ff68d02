//! Transfers deliver the data that was sent.

use tls_harness::{library::TlsLibrary, session::HandshakeBench, workloads::transfer::Batch};

use super::{good, handshakes::server, scenarios::transfers};

/// Every transfer delivers the data that was sent, in records of the requested size.
pub fn every_transfer_arrives<L: TlsLibrary>(library: &L) {
    for scenario in transfers() {
        if library.unsupported(&scenario).is_some() {
            continue;
        }
        let mut batch = Batch::new(&scenario).unwrap();
        let server = server(library, &scenario);
        let bench = HandshakeBench::new(library, &server, &scenario, batch.capacity()).unwrap();
        let mut pair = bench.handshake(false).unwrap();
        bench.transport.clear();
        for keeps in [true, false, true] {
            let times = match keeps {
                true => batch.run_kept(&mut pair),
                false => batch.run(&mut pair),
            };
            good(times.and_then(|_| batch.check(&bench.transport)), &scenario);
        }
    }
}
