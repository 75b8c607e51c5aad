# shellcheck shell=bash
# What every script needs. A script sets `-euo pipefail`, then sources this file.

# The crash reporter can hang for minutes on a machine with little memory.
export SWIFT_BACKTRACE=enable=no

root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." >/dev/null && pwd)

# Some services and containers start programs without HOME.
if [ -z "${HOME:-}" ]; then
  HOME=$(getent passwd "$(id -u)" | cut -d: -f6)
  export HOME
fi

say() { printf '==> %s\n' "$*" >&2; }

# Prints what is wrong and what to do, one line each, and ends the script.
fail() {
  local line
  printf 'error: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '       %s\n' "$line" >&2; done
  exit 1
}

has_command() { command -v "$1" >/dev/null 2>&1; }

can_be_root() { [ "$(id -u)" -eq 0 ] || has_command sudo; }

# Runs a command as the superuser, if possible.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Fails with a message unless a Swift compiler of at least this version is installed.
require_swift() {
  local major=6 minor=2 version
  local install="Install it from https://www.swift.org/install/linux/ and run this script again."
  has_command swift || fail "the Swift toolchain is missing (no 'swift' in PATH)." "$install"
  version=$(swift --version 2>/dev/null || true)
  if ! [[ $version =~ Swift\ version\ ([0-9]+)\.([0-9]+) ]]; then
    fail "'swift --version' says no version; the toolchain may be incomplete." "$install"
  fi
  if ((BASH_REMATCH[1] < major || (BASH_REMATCH[1] == major && BASH_REMATCH[2] < minor))); then
    fail "Swift ${BASH_REMATCH[1]}.${BASH_REMATCH[2]} is too old; $major.$minor or later is needed." \
      "$install"
  fi
}

# Fails with a message unless there is enough space for a first build, in MiB.
require_space() {
  local free
  [ ! -d "$root/.build" ] || return 0
  free=$(df -Pk -- "$root" | awk 'NR == 2 { print int($4 / 1024) }')
  if ((free < $1)); then
    fail "the build needs about $1 MiB, and $free MiB are free under $root." \
      "Make room there, or clone to a larger volume, and run this script again."
  fi
}

# Uses dependencies that the user has already downloaded, even if HOME is set to another folder.
dependency_cache_options() {
  local home
  home=$(getent passwd "$(id -u)" | cut -d: -f6)
  if [ "$home" != "$HOME" ] && [ -z "${XDG_CACHE_HOME:-}" ] &&
    [ ! -d "$HOME/.cache/org.swift.swiftpm" ] && [ -w "$home/.cache/org.swift.swiftpm" ]; then
    printf '%s\n' --cache-path "$home/.cache/org.swift.swiftpm"
  fi
}

# `swift build`, from any folder.
swift_build() {
  local cache
  mapfile -t cache < <(dependency_cache_options)
  swift build --package-path "$root" "${cache[@]}" "$@"
}

# Options to build a program as `prefs` is installed: optimised, with the runtimes of the compilers, without symbols. It
# exports none either, since nothing looks for them in it, and the loader needs not sort them. Generic types get the
# conformances that the compiler knows: by name, the runtime searches all of the program for each, which was a third of
# the instructions of a `get`. All scripts share them, so that it is built once.
release_options=(
  -c release --static-swift-stdlib --disable-local-rpath -debug-info-format none
  -Xlinker -s -Xlinker --no-export-dynamic -Xswiftc -Xclang-linker -Xswiftc -static-libgcc
  -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
)
release_folder="$root/.build/release"
build_release() {
  local product folders archives=$root/.build/archives
  link_cxx_archive || return
  for product in "$@"; do
    folders=()
    # What others build with the libraries links as they like.
    if [ "$product" = prefs ]; then
      find_archives "$archives"
      folders=(--pkg-config-path "$archives")
    fi
    swift_build --scratch-path "$root/.build" "${folders[@]}" "${release_options[@]}" --product "$product" >&2 || return
  done
}

# Lets the linker find the C++ library of the Swift runtime as an archive, if the compiler has it: two fifths of the
# instructions of the loader are for the names of the shared one. The folder of the products is searched before the
# system's.
link_cxx_archive() {
  local archive folder
  archive=$(clang -print-file-name=libstdc++.a 2>/dev/null || true)
  [ -f "$archive" ] || return 0
  # Without it, the link would be made at the root: a caller that looks at failures lets this function go on.
  folder=$(swift_build --scratch-path "$root/.build" -c release --show-bin-path) || return
  mkdir -p -- "$folder"
  ln -sf -- "$archive" "$folder/libstdc++.a"
}

# find_archives FOLDER: fills a folder for pkg-config, with which libsodium and SQLite are linked in, if the machine has
# their archives. SwiftPM puts the folders that pkg-config names before all others, and the linker prefers a shared
# library to an archive beside it; so this folder has the archives alone.
find_archives() {
  local name library archive
  # An archive may be gone since.
  rm -rf -- "$1"
  mkdir -p -- "$1"
  while read -r name library; do
    archive=$(pkg-config --variable=libdir "$name")/lib$library.a
    [ -f "$archive" ] || continue
    ln -sf -- "$archive" "$1/"
    printf '%s\n' "Name: $name" "Description: linked in" "Version: $(pkg-config --modversion "$name")" \
      "Cflags: $(pkg-config --cflags "$name")" "Libs: -L$1 -l$library" >"$1/$name.pc"
  done <<<$'libsodium sodium\nsqlite3 sqlite3'
}
# shellcheck disable=SC2034 # used by the scripts that source this
release_binary="$release_folder/prefs"
