// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who uses the library resolves or builds what only the
// benchmarks need.
let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "Prephirences", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CLibsecretOne", pkgConfig: "libsecret-1",
      providers: [.apt(["libsecret-1-dev"]), .yum(["libsecret-devel"])]),
    .systemLibrary(
      name: "CSodiumForBare", pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"]), .yum(["libsodium-devel"])]),
    .target(name: "CPeer", dependencies: ["CLibsecretOne"]),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "CPeer", "CSodiumForBare",
        .product(name: "Keychain", package: "Prephirences"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .executableTarget(
      name: "BareGet",
      dependencies: [
        "CSodiumForBare",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .executableTarget(name: "PeakMemory"),
  ],
  swiftLanguageModes: [.v6]
)
