// swift-tools-version: 6.2
import PackageDescription

// Clients with traits enabled, in a separate package: others need not build an HTTP client or a web server. All share a
// build. They use another trait of swift-configuration than Prephirences does.
let package = Package(
  name: "TraitClient",
  dependencies: [
    .package(
      name: "Prephirences", path: "../../..",
      traits: ["ConfigurationSupport", "RemotePreferences", "ServiceLifecycleSupport"]),
    .package(
      url: "https://github.com/apple/swift-configuration", from: "1.4.0",
      traits: [.defaults, "CommandLineArguments"]),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.3"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
  ],
  targets: [
    .executableTarget(
      name: "ConfiguredServer",
      dependencies: [
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "ConfigurationKeychain", package: "Prephirences"),
        .product(name: "ConfigurationPreferences", package: "Prephirences"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .executableTarget(
      name: "FleetServer",
      dependencies: [
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "ConfigurationPreferences", package: "Prephirences"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "ServiceLifecyclePreferences", package: "Prephirences"),
      ]),
    .executableTarget(
      name: "RemoteTool",
      dependencies: [.product(name: "RemotePrephirences", package: "Prephirences")]),
    .executableTarget(
      name: "WebService",
      dependencies: [
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "ConfigurationKeychain", package: "Prephirences"),
        .product(name: "ConfigurationPreferences", package: "Prephirences"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
