//! Measures AWS-LC.

use std::process::ExitCode;

fn main() -> ExitCode {
    tls_harness::program::main(&tls_aws_lc::AwsLc)
}
