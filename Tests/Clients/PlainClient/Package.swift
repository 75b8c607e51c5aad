// swift-tools-version: 6.2
import PackageDescription

// A client of the preferences only, which shows what such a client must build.
let package = Package(
  name: "PlainClient",
  dependencies: [.package(name: "Prephirences", path: "../../..")],
  targets: [
    .executableTarget(
      name: "PlainClient",
      dependencies: [.product(name: "Prephirences", package: "Prephirences")])
  ],
  swiftLanguageModes: [.v6]
)
