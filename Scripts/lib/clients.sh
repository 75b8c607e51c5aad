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

# with_client PRODUCTS TRAITS COMMAND...: runs a command in the folder of a new client, where `client` are the options that
# SwiftPM needs.
with_client() {
  local folder product products='' traits=$2 client status=0
  for product in $1; do products+=".product(name: \"$product\", package: \"Prephirences\"), "; done
  shift 2
  folder=$(mktemp -d "${TMPDIR:-/tmp}/client.XXXXXX")
  mkdir -p -- "$folder/Sources/Client"
  : >"$folder/Sources/Client/Client.swift"
  cat >"$folder/Package.swift" <<TEXT
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Client",
  dependencies: [.package(name: "Prephirences", path: "$root", traits: [$traits])],
  targets: [.target(name: "Client", dependencies: [$products])]
)
TEXT
  mapfile -t client < <(dependency_cache_options)
  client+=(--package-path "$folder")
  "$@" || status=$?
  rm -rf -- "$folder"
  return "$status"
}

# Prints the packages that a client downloads. Nothing else can be built for it.
resolved_packages() {
  swift package "${client[@]}" resolve >&2 &&
    sed -n 's/.*"identity" : "\(.*\)".*/\1/p' "$folder/Package.resolved" | paste -sd ' '
}

# Prints the modules that a build of a client compiles, without building it.
planned_modules() {
  swift build "${client[@]}" --print-manifest-job-graph | "$root/Scripts/lib/planned-modules" Client
}

# A client with one trait builds nothing of the others.
check_providers() {
  local modules products="ConfigurationKeychain ConfigurationPreferences"
  modules=$(with_client "$products" '"ConfigurationSupport"' planned_modules) || return
  if ! grep -qx Configuration <<<"$modules" || grep -xE >&2 \
    'ServiceLifecycle|ServiceLifecyclePreferences|Logging|Metrics|Prephirences|PreferencesShared|Yams' <<<"$modules"; then
    echo "a client of the providers for swift-configuration builds: $modules" >&2
    return 1
  fi
}

# check_resolved PRODUCT TRAITS EXPECTED
check_resolved() {
  local found
  found=$(with_client "$1" "$2" resolved_packages)
  [ "$found" != "$3" ] || return 0
  echo "a client of $1 with the traits [$2] downloads: $found; expected: $3" >&2
  return 1
}

# Packages that come with a trait are not even downloaded without it.
check_clients() {
  local always="swift-argument-parser swift-system"
  check_plain_client &&
    check_providers &&
    check_resolved Keychain "" "$always" &&
    check_resolved PrephirencesRecords '"RecordPreferences"' "grdb.swift $always" &&
    check_resolved ConfigurationKeychain "" "$always" &&
    # With what swift-configuration itself depends on.
    check_resolved ConfigurationKeychain '"ConfigurationSupport"' \
      "swift-argument-parser swift-async-algorithms swift-collections swift-configuration swift-log swift-service-lifecycle swift-system" &&
    check_resolved ServiceLifecyclePreferences '"ServiceLifecycleSupport"' \
      "swift-argument-parser swift-async-algorithms swift-collections swift-log swift-metrics swift-service-lifecycle swift-system"
}

# The programs of the clients with traits.
# shellcheck disable=SC2034 # used by the scripts that source this
trait_programs=$root/.build/clients/TraitClient/debug
build_clients() { build_client TraitClient && build_client PlainClient; }
