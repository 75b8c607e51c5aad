// swift-tools-version: 6.2
import PackageDescription

// A client with the trait on, in a package of its own: whoever builds and tests the rest need not
// build an HTTP client.
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
