# shellcheck shell=bash
# What packs the release: its options, its program and version, and one time for all files. A script has `usage`, and
# sources common.sh and packages.sh before.

# The folders of a package have the same modes whoever packs it.
umask 022
export LC_ALL=C
# shellcheck disable=SC2154 # common.sh has the root
output=$root/.build/package
program=
made=$(mktemp -d)
trap 'rm -rf -- "$made"' EXIT

read_packing_options() {
  while (($#)); do
    case $1 in
      --output | --program)
        [ -n "${2:-}" ] || fail "$1 needs a path."
        printf -v "${1#--}" %s "$(realpath -m -- "$2")"
        shift
        ;;
      -h | --help)
        usage
        exit
        ;;
      *)
        usage >&2
        exit 64
        ;;
    esac
    shift
  done
}

# begin_packing NEED...: builds the program unless one was given, and finds out what is packed.
begin_packing() {
  local needed
  require_packages git "$@"
  if [ -z "$program" ]; then
    require_swift
    require_packages pkg-config libsodium sqlite
    require_space 2048
    # Otherwise the bytes depend on where the clone lies: the hash of each module, and the paths in `#file` that
    # packages of Swift 5 pass. Only a release needs these options, which a later compiler may not have.
    release_options+=(
      -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
      -Xswiftc -Xfrontend -Xswiftc -enable-experimental-concise-pound-file
    )
    say "Building prefs (the first time takes a few minutes)"
    build_release prefs || fail "the build failed; the messages of the compiler are above."
    # shellcheck disable=SC2154 # common.sh has it
    program=$release_binary
    # Without the archives of libsodium and SQLite, the linker takes the shared libraries.
    needed=$(readelf --dynamic "$program" | grep NEEDED | grep -vE '\[(lib[cm]\.so|ld-linux)' || true)
    [ -z "$needed" ] || fail "prefs needs more than glibc, and so does not start everywhere:" "$needed" \
      "Install libsodium.a and libsqlite3.a (Debian: libsodium-dev, libsqlite3-dev), and remove .build/release."
  fi
  [ -x "$program" ] || fail "$program is no program."
  # The time of every file in the packages.
  [ -n "${SOURCE_DATE_EPOCH:-}" ] || SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct) ||
    fail "the time of the commit is unknown: git does not read this folder as a clone." \
      "Set SOURCE_DATE_EPOCH to the seconds since 1970 that every file is to have."
  export SOURCE_DATE_EPOCH
  version=$("$program" --version | sed -nE '1s/^[^0-9]*([0-9]+(\.[0-9]+)+).*/\1/p')
  [ -n "$version" ] || fail "$program --version says no version."
  # shellcheck disable=SC2034 # used by the scripts that source this
  architecture=$(dpkg --print-architecture)
  mkdir -p -- "$output"
}

# pack_tree FOLDER OPTION... PATH...: prints a folder's contents as an archive that depends on nothing else.
pack_tree() {
  local folder=$1
  shift
  tar -C "$folder" --create --format=gnu --sort=name --owner=0 --group=0 --numeric-owner \
    --mtime="@$SOURCE_DATE_EPOCH" "$@"
}
