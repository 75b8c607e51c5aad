// swift-tools-version: 6.2
import PackageDescription

// A client with one trait enabled, which builds nothing of the others.
let package = Package(
  name: "ProviderClient",
  dependencies: [
    .package(name: "Prephirences", path: "../../..", traits: ["ConfigurationSupport"]),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
  ],
  targets: [
    .executableTarget(
      name: "ProviderClient",
      dependencies: [
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "ConfigurationKeychain", package: "Prephirences"),
        .product(name: "ConfigurationPreferences", package: "Prephirences"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
