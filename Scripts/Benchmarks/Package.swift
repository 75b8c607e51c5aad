// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of the library neither resolve nor build the dependencies of
// the benchmarks.
let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "Prephirences", path: "../..", traits: ["ConfigurationSupport"]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
  ],
  targets: [
    .systemLibrary(
      name: "CLibsecretOne", pkgConfig: "libsecret-1",
      providers: [.apt(["libsecret-1-dev"]), .yum(["libsecret-devel"])]),
    .systemLibrary(
      name: "CSodiumForBare", pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"]), .yum(["libsodium-devel"])]),
    .systemLibrary(
      name: "CSQLiteForBare", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"])]),
    .target(name: "CPeer", dependencies: ["CLibsecretOne"]),
    .target(name: "BareStore", dependencies: ["CSodiumForBare"]),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "BareStore", "CPeer", "CSQLiteForBare", "CSodiumForBare",
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "ConfigurationKeychain", package: "Prephirences"),
        .product(name: "ConfigurationPreferences", package: "Prephirences"),
        .product(name: "Keychain", package: "Prephirences"),
        .product(name: "PrephirencesDurable", package: "Prephirences"),
        .product(name: "PrephirencesShared", package: "Prephirences"),
        .product(name: "SwiftyUserDefaults", package: "Prephirences"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(name: "BareGet", dependencies: ["CSodiumForBare"]),
    .executableTarget(name: "PeakMemory"),
    .executableTarget(name: "KeyringPeer", dependencies: ["CPeer"]),
    .executableTarget(
      name: "PreferencePeer",
      dependencies: [.product(name: "PrephirencesDurable", package: "Prephirences")]),
    .executableTarget(
      name: "SharedPeer",
      dependencies: [.product(name: "PrephirencesShared", package: "Prephirences")]),
    .executableTarget(
      name: "VaultPeer",
      dependencies: ["BareStore", .product(name: "Keychain", package: "Prephirences")]),
  ],
  swiftLanguageModes: [.v6]
)
