//! The only test in its process, since it counts the memory of the whole process.

use tls_harness::workloads::memory::keep;

#[test]
fn kept_memory_is_counted() {
    let growth = keep(100, || Ok(vec![1_u8; 10_000])).unwrap();
    assert!(
        growth.allocated >= 1_000_000 && growth.allocated < 1_200_000,
        "{growth:?}"
    );
}
