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

# A client of the preferences alone builds and links nothing of what only other products need.
check_plain_client() {
  local scratch=$root/.build/clients/PlainClient modules
  build_client PlainClient || return
  modules=$(cd -- "$scratch/debug/Modules" && printf '%s\n' *.swiftmodule |
    grep -vxE '(PlainClient|Prephirences|PreferencesCore|PrephirencesSystem|SystemPackage)\.swiftmodule')
  if [ -n "$modules" ]; then
    echo "a client of Prephirences builds: $modules" >&2
    return 1
  fi
  if readelf -d "$scratch/debug/PlainClient" | grep -E 'NEEDED.*(sodium|sqlite|secret|curl)' >&2; then
    echo "a client of Prephirences links what only other products need" >&2
    return 1
  fi
  [ "$("$scratch/debug/PlainClient")" = "red 3" ]
}

# A client with one trait builds nothing of the others.
check_provider_client() {
  local scratch=$root/.build/clients/ProviderClient modules output
  build_client ProviderClient || return
  modules=$(cd -- "$scratch/debug/Modules" && printf '%s\n' *.swiftmodule |
    grep -xE '(ServiceLifecycle|ServiceLifecyclePreferences|Logging|Metrics|Prephirences|PreferencesShared|Yams)\.swiftmodule')
  if [ -n "$modules" ]; then
    echo "a client of the providers for swift-configuration builds: $modules" >&2
    return 1
  fi
  # shellcheck disable=SC2154 # the tests' folder
  output=$(in_private "$scratch/debug/ProviderClient" "$private/tmp") && [ "$output" = "8080 no token" ]
}

# resolved_packages PRODUCT TRAITS: prints the packages that a new client of one product downloads. Nothing else can be
# built for it.
resolved_packages() {
  local folder cache
  folder=$(mktemp -d "${TMPDIR:-/tmp}/client.XXXXXX")
  mkdir -p -- "$folder/Sources/Client"
  : >"$folder/Sources/Client/Client.swift"
  cat >"$folder/Package.swift" <<TEXT
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Client",
  dependencies: [.package(name: "Prephirences", path: "$root", traits: [$2])],
  targets: [.target(name: "Client", dependencies: [.product(name: "$1", package: "Prephirences")])]
)
TEXT
  mapfile -t cache < <(dependency_cache_options)
  swift package --package-path "$folder" "${cache[@]}" resolve >&2 &&
    sed -n 's/.*"identity" : "\(.*\)".*/\1/p' "$folder/Package.resolved" | paste -sd ' '
  rm -rf -- "$folder"
}

# check_resolved PRODUCT TRAITS EXPECTED
check_resolved() {
  local found
  found=$(resolved_packages "$1" "$2")
  [ "$found" != "$3" ] || return 0
  echo "a client of $1 with the traits [$2] downloads: $found; expected: $3" >&2
  return 1
}

# Packages that come with a trait are not even downloaded without it.
check_clients() {
  local always="swift-argument-parser swift-system"
  check_plain_client &&
    check_provider_client &&
    check_resolved Keychain "" "$always" &&
    check_resolved PrephirencesRecords '"RecordPreferences"' "grdb.swift $always" &&
    check_resolved ConfigurationKeychain "" "$always" &&
    # With what swift-configuration itself depends on.
    check_resolved ConfigurationKeychain '"ConfigurationSupport"' \
      "swift-argument-parser swift-async-algorithms swift-collections swift-configuration swift-log swift-service-lifecycle swift-system" &&
    check_resolved ServiceLifecyclePreferences '"ServiceLifecycleSupport"' \
      "swift-argument-parser swift-async-algorithms swift-collections swift-log swift-metrics swift-service-lifecycle swift-system"
}

# shellcheck disable=SC2034 # used by the scripts that source this
remote_tool=$root/.build/clients/RemoteClient/debug/RemoteTool
build_remote_tool() { build_client RemoteClient --product RemoteTool; }

# The other programs of this client are next to it.
# shellcheck disable=SC2034
configured_server=$root/.build/clients/ConfigurationClient/debug/ConfiguredServer
build_configuration_client() { build_client ConfigurationClient; }
