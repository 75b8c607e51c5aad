# shellcheck shell=bash
# Clients of the package, which are packages of their own under Tests/Clients.

# build_client NAME OPTION...: builds a package of Tests/Clients.
build_client() {
  # shellcheck disable=SC2154 # common.sh has the root
  local name=$1 scratch=$root/.build/clients/$1 cache
  shift
  # Otherwise a source list from before a file was added or moved would be reused.
  rm -f -- "$scratch"/{debug,release}.yaml
  mapfile -t cache < <(dependency_cache_options)
  swift build --package-path "$root/Tests/Clients/$name" --scratch-path "$scratch" "${cache[@]}" \
    --disable-index-store -debug-info-format none "$@" >&2
}

# A client of the preferences alone builds nothing else, and downloads no HTTP client.
check_plain_client() {
  local scratch=$root/.build/clients/PlainClient modules
  build_client PlainClient || return
  modules=$(cd -- "$scratch/debug/Modules" && printf '%s ' *.swiftmodule)
  if [ "$modules" != "PlainClient.swiftmodule Prephirences.swiftmodule " ]; then
    echo "a client of Prephirences builds: $modules" >&2
    return 1
  fi
  if readelf -d "$scratch/debug/PlainClient" | grep -E 'NEEDED.*(sodium|sqlite|secret)' >&2; then
    echo "a client of Prephirences links what only other products need" >&2
    return 1
  fi
  if [ -e "$scratch/checkouts/async-http-client" ]; then
    echo "a client without the trait RemotePreferences downloads async-http-client" >&2
    return 1
  fi
  [ "$("$scratch/debug/PlainClient")" = "red 3" ]
}

# shellcheck disable=SC2034 # used by the scripts that source this
remote_tool=$root/.build/clients/RemoteClient/debug/RemoteTool
build_remote_tool() { build_client RemoteClient --product RemoteTool; }
