// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Prephirences",
  products: [
    .library(name: "Prephirences", targets: ["Prephirences"]),
    .library(
      name: "Keychain",
      targets: [
        "Keychain", "KeychainSecretService", "KeychainVault", "KeychainCredentials",
        "KeychainSecrets", "Prephirences",
      ]),
    .library(name: "KeychainCommands", targets: ["KeychainCommands"]),
    .executable(name: "prefs", targets: ["prefs"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CLibsodium",
      pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"]), .yum(["libsodium-devel"])]),
    .systemLibrary(name: "CLibsecret"),
    .target(name: "CKernelKeys"),
    .target(name: "KeychainSecrets", dependencies: ["CLibsodium"]),
    .target(name: "KeychainCredentials", dependencies: ["KeychainSecrets"]),
    .target(
      name: "KeychainVault",
      dependencies: [
        "CKernelKeys", "KeychainCredentials", "KeychainSecrets",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "KeychainSecretService",
      dependencies: ["CLibsecret", "KeychainCredentials", "KeychainSecrets"]),
    .target(name: "Prephirences"),
    .target(
      name: "Keychain",
      dependencies: [
        "KeychainCredentials", "KeychainSecretService", "KeychainSecrets", "KeychainVault",
        "Prephirences",
      ]),
    .target(
      name: "KeychainCommands",
      dependencies: [
        "Keychain", "KeychainCredentials", "KeychainSecretService", "KeychainSecrets",
        "KeychainVault",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .executableTarget(
      name: "prefs",
      dependencies: [
        "KeychainCommands",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .testTarget(
      name: "KeychainVaultTests",
      dependencies: [
        "CredentialStoreContract", "KeychainCredentials", "KeychainSecrets", "KeychainVault",
        "KeychainVaultTesting",
      ]),
    .testTarget(
      name: "KeychainVaultFaultTests",
      dependencies: [
        "CFaultVFS", "KeychainCredentials", "KeychainSecrets", "KeychainVault",
        "KeychainVaultTesting", "VaultWriterTool",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .testTarget(
      name: "KeychainSecretServiceTests",
      dependencies: [
        "CredentialStoreContract", "Keychain", "KeychainCredentials", "KeychainSecretService",
        "KeychainSecrets", "KeychainVault",
      ]),
    .testTarget(name: "PrephirencesTests", dependencies: ["Prephirences"]),
    .testTarget(
      name: "KeychainTests",
      dependencies: [
        "CredentialStoreContract", "ImportCanary", "Keychain", "KeychainCredentials",
        "KeychainSecretService", "KeychainSecrets", "KeychainVault", "KeychainVaultTesting",
      ]),
    .testTarget(
      name: "KeychainCredentialsTests",
      dependencies: ["CredentialStoreContract", "KeychainCredentials", "KeychainSecrets"]),
    .target(
      name: "CredentialStoreContract",
      dependencies: ["KeychainCredentials", "KeychainSecrets"],
      path: "Tests/CredentialStoreContract"),
    .target(
      name: "ImportCanary",
      dependencies: ["Keychain"],
      path: "Tests/ImportCanary",
      packageAccess: false),
    .target(
      name: "KeychainVaultTesting",
      dependencies: ["KeychainCredentials", "KeychainSecrets", "KeychainVault"],
      path: "Tests/KeychainVaultTesting"),
    .executableTarget(
      name: "VaultWriterTool",
      dependencies: [
        "KeychainCredentials", "KeychainSecrets", "KeychainVault", "KeychainVaultTesting",
      ],
      path: "Tests/VaultWriterTool"),
    .executableTarget(
      name: "SampleTool",
      dependencies: [
        "Keychain", "KeychainCommands",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/SampleTool"),
    .executableTarget(
      name: "PlainSampleTool",
      dependencies: [
        "KeychainCommands",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/PlainSampleTool"),
    .target(
      name: "CFaultVFS",
      path: "Tests/CFaultVFS",
      linkerSettings: [.linkedLibrary("sqlite3")]),
    .testTarget(name: "KeychainSecretsTests", dependencies: ["KeychainSecrets"]),
    .testTarget(
      name: "KeychainCommandsTests",
      dependencies: [
        "KeychainCommands", "KeychainCredentials", "KeychainSecrets", "KeychainVault",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

let targetsThatTouchC: Set = ["KeychainSecrets", "KeychainSecretService", "KeychainVault"]
let targetsInC: Set = ["CFaultVFS", "CKernelKeys"]

for target in package.targets where target.type != .system && !targetsInC.contains(target.name) {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
  ]
  if targetsThatTouchC.contains(target.name) {
    target.swiftSettings?.append(.strictMemorySafety())
  }
}
