//! Writes the enumeration of the kinds of scenarios, and compiles the library that counts calls.

use std::{env, error::Error, fs, path::Path, process::Command};

use serde_json::Value;

const SCHEMA: &str = "../../data/schema/record.schema.json";
const SOURCE: &str = "interposer/lib.rs";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::var("OUT_DIR")?;
    write_operations(&Path::new(&folder).join("operation.rs"))?;
    compile_interposer(&Path::new(&folder).join("libtls_calls.so"))
}

/// The kinds that the schema lists: `SetUp = "set-up"`.
fn write_operations(file: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={SCHEMA}");
    let text = fs::read_to_string(SCHEMA).map_err(|error| format!("{SCHEMA}: {error}"))?;
    let schema: Value =
        serde_json::from_str(&text).map_err(|error| format!("{SCHEMA}: {error}"))?;
    let values = &schema["$defs"]["Scenario"]["properties"]["operation"]["enum"];
    let names: Vec<String> = serde_json::from_value(values.clone())
        .map_err(|error| format!("{SCHEMA}: the kinds of scenarios: {error}"))?;
    let values = names.iter().map(|name| {
        let words = name.split('-');
        let value: String = words.map(|it| it[..1].to_uppercase() + &it[1..]).collect();
        format!("{value} = {name:?},")
    });
    let values: String = values.collect();
    let text = format!("vocabulary!(/// The kind of a scenario.\nOperation {{ {values} }});");
    Ok(fs::write(file, text)?)
}

/// Compiles the library that counts calls of the allocator and of locks, which
/// `src/interposed.rs` carries. It is for glibc; elsewhere there is an empty file in its place.
fn compile_interposer(library: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={SOURCE}");
    if env::var("CARGO_CFG_TARGET_OS")? != "linux" || env::var("CARGO_CFG_TARGET_ENV")? != "gnu" {
        return Ok(fs::write(library, [])?);
    }
    let status = Command::new(env::var("RUSTC")?)
        .args(["--crate-name", "tls_calls", "--crate-type", "cdylib"])
        .args(["--edition", "2024", "-D", "warnings"])
        .args(["-Copt-level=2", "-Cpanic=abort", "-Cstrip=symbols"])
        .arg("-Clink-arg=-lc")
        .args(["--target", &env::var("TARGET")?])
        .arg("-o")
        .arg(library)
        .arg(SOURCE)
        .status()?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{SOURCE}: rustc: {status}").into()),
    }
}
