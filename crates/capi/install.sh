#!/bin/sh
# Installs the C library: sh crates/capi/install.sh PREFIX [LIBRARIES]
# PREFIX is absolute, such as /usr/local; LIBRARIES is where Cargo put libprecast.so and libprecast.a, target/release by default.
set -eu
here=$(dirname "$0")
prefix=$1
headers=$here/../abi/include/precast
libraries=${2:-$here/../../target/release}
if [ ! -d "$headers" ]; then # an unpacked crate: Cargo unpacks precast-abi beside it, and builds inside of it
  headers=$here/../precast-abi-$(sed -n 's/^Version: //p' "$here/precast.pc")/include/precast
  libraries=${2:-$here/target/release}
fi
abi=$(sed -n 's/^#define PRECAST_ABI_VERSION //p' "$here/include/precast.h")
lib=$prefix/lib

mkdir -p "$prefix/include/precast" "$lib/pkgconfig" "$lib/cmake/precast"
install -m 644 "$here/include/precast.h" "$prefix/include"
# A pc_context, for plain C functions that may fail.
install -m 644 "$headers/context.h" "$headers/tensor.h" "$prefix/include/precast"
install -m 755 "$libraries/libprecast.so" "$lib/libprecast.so.$abi"
ln -sf "libprecast.so.$abi" "$lib/libprecast.so"
install -m 644 "$libraries/libprecast.a" "$lib"
install -m 644 "$here/precast.pc" "$lib/pkgconfig"
install -m 644 "$here"/cmake/precast-config*.cmake "$lib/cmake/precast"
