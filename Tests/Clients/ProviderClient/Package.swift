// swift-tools-version: 6.2
import PackageDescription

// A client with one trait enabled, which builds nothing of the others.
let package = Package(
  name: "ProviderClient",
  dependencies: [
    .package(name: "Prephirences", path: "../../..", traits: ["ConfigurationSupport"])
  ],
  targets: [
    .executableTarget(
      name: "ProviderClient",
      dependencies: [
        .product(name: "ConfigurationKeychain", package: "Prephirences"),
        .product(name: "ConfigurationPreferences", package: "Prephirences"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
