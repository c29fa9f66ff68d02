//! Links programs with a shared library that contains the same objects as the static one.

use std::fmt::Write as _;

use anyhow::{Context, Result};

use crate::libraries::Libraries;

/// Links the shared library of each layout, and the program to it. The file name of the library
/// contains its checksum, which therefore becomes part of the program's. Hidden symbols, as in
/// BoringSSL, are first made visible by the objcopy of Rust's toolchain; its linker accepts the
/// references to them.
const LINK: &str = r#"
# The package of the library that an argument is the archive of; nothing for other arguments.
package_of() {
  for package in $packages; do
    case "$1" in
    */lib$package-*.rlib) echo "$package" ;;
    esac
  done
}
link_to() {
  library=$1 program=$2
  shift 2
  count=$#
  while [ "$count" -gt 0 ]; do
    argument=$1
    shift
    count=$((count - 1))
    case "$(package_of "$argument")" in
    "") set -- "$@" "$argument" ;;
    *) set -- "$@" -Wl,-Bdynamic "-l:$library" ;;
    esac
  done
  cc "-L$(dirname "$program")" "$@" '-Wl,-rpath,$ORIGIN' -o "$program"
}
linker= found= sysroot=$(rustc --print sysroot)
for argument; do
  case "$argument" in
  -B* | -fuse-ld=*) linker="$linker $argument" ;;
  esac
  package=$(package_of "$argument")
  [ -n "$package" ] || continue
  found="$found $package"
  LD_LIBRARY_PATH=$sysroot/lib "$sysroot"/lib/rustlib/*/bin/rust-objcopy --wildcard \
    '--set-symbol-visibility=*=default' "$argument" "$here/$name.$package.a"
done
for package in $packages; do
  case "$found " in
  *" $package "*) ;;
  *) echo "$name is linked without an archive of $package" >&2; exit 1 ;;
  esac
done
layout=1
while [ "$layout" -lt "$layouts" ]; do
  folder=$here/$layout
  cc -c "$folder/pad.s" -o "$folder/$name.o"
  cc -shared $linker -Wl,-Bsymbolic -Wl,-z,relro,-z,now "$folder/$name.o" \
    -Wl,--whole-archive "$here/$name".*.a -Wl,--no-whole-archive -Wl,--as-needed -lstdc++ -o "$folder/$name.so"
  checksum=$(sha256sum "$folder/$name.so" | cut -c -16)
  mv "$folder/$name.so" "$folder/$file.so.$checksum"
  link_to "$file.so.$checksum" "$folder/$name" "$@"
  layout=$((layout + 1))
done
rm "$here/$name".*.a
"#;

/// The part of the linker script that follows normal linking.
///
/// # Errors
///
/// The library of a program cannot be shared; names the program.
pub fn linker(layouts: u32, names: &[&str], libraries: &Libraries) -> Result<String> {
    let mut text = format!("layouts={layouts}\ncase \"$name\" in\n");
    for name in names {
        let library = libraries.of_program(name);
        let shared = library.and_then(|it| it.shared_library.as_ref());
        let shared = shared.with_context(|| {
            let id = library.map_or("", |it| &it.id);
            format!(
                "{name} has no layout with a shared library: library.toml of {id} names none, \
                 expected [shared_library]; measure other libraries with --library"
            )
        })?;
        let _ = writeln!(
            text,
            "{name}) packages='{}' file={} ;;",
            shared.packages.join(" "),
            shared.name
        );
    }
    Ok(text + "esac" + LINK)
}
