// swift-tools-version: 6.2
import PackageDescription

// A client with the trait enabled, in a separate package: others need not build an HTTP client.
let package = Package(
  name: "RemoteClient",
  dependencies: [
    .package(name: "Prephirences", path: "../../..", traits: ["RemotePreferences"])
  ],
  targets: [
    .executableTarget(
      name: "RemoteTool",
      dependencies: [.product(name: "RemotePrephirences", package: "Prephirences")])
  ],
  swiftLanguageModes: [.v6]
)
