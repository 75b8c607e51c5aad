// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Prephirences",
  products: [
    .library(name: "Prephirences", targets: ["Prephirences"]),
    .library(
      name: "Keychain",
      targets: [
        "Keychain", "KeychainSecretService", "KeychainTerminal", "KeychainVault",
        "KeychainCredentials", "KeychainSecrets", "Prephirences",
      ]),
    .library(name: "KeychainCommands", targets: ["KeychainCommands"]),
    .library(
      name: "CryptoPrephirences",
      targets: ["CryptoPrephirences", "KeychainSecrets", "Prephirences"]),
    .library(name: "RemotePrephirences", targets: ["Prephirences", "RemotePrephirences"]),
    .library(name: "PrephirencesCookies", targets: ["Prephirences", "PrephirencesCookies"]),
    .library(name: "PrephirencesRecords", targets: ["Prephirences", "PrephirencesRecords"]),
    .executable(name: "prefs", targets: ["prefs"]),
  ],
  traits: [
    .trait(
      name: "RemotePreferences",
      description: "Preferences over HTTP, in RemotePrephirences; brings async-http-client.")
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    // Only with the trait: without it, they are not even downloaded.
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.86.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CLibsodium",
      pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"]), .yum(["libsodium-devel"])]),
    .systemLibrary(name: "CLibsecret"),
    .target(name: "CKernelKeys"),
    .target(name: "CCommandLine"),
    .target(name: "CTerminal"),
    .target(name: "KeychainSecrets", dependencies: ["CLibsodium"]),
    .target(name: "KeychainCredentials", dependencies: ["KeychainSecrets"]),
    .target(
      name: "KeychainVaultFormat", dependencies: ["KeychainCredentials", "KeychainSecrets"]),
    .target(
      name: "KeychainVault",
      dependencies: [
        "CKernelKeys", "KeychainCredentials", "KeychainSecrets", "KeychainVaultFormat",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "KeychainSecretService",
      dependencies: ["CLibsecret", "KeychainCredentials", "KeychainSecrets"]),
    .target(
      name: "KeychainTerminal",
      dependencies: [
        "CTerminal", "KeychainCredentials", "KeychainSecrets", "KeychainVault",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(name: "Prephirences"),
    .target(name: "CryptoPrephirences", dependencies: ["KeychainSecrets", "Prephirences"]),
    .target(
      name: "RemotePrephirences",
      dependencies: [
        "Prephirences",
        .product(
          name: "AsyncHTTPClient", package: "async-http-client",
          condition: .when(traits: ["RemotePreferences"])),
        .product(
          name: "NIOCore", package: "swift-nio", condition: .when(traits: ["RemotePreferences"])),
        .product(
          name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["RemotePreferences"])),
      ]),
    .target(name: "PrephirencesCookies", dependencies: ["Prephirences"]),
    .target(
      name: "PrephirencesRecords",
      dependencies: ["Prephirences", .product(name: "GRDB", package: "GRDB.swift")]),
    .target(
      name: "Keychain",
      dependencies: [
        "KeychainCredentials", "KeychainSecretService", "KeychainSecrets", "KeychainTerminal",
        "KeychainVault", "Prephirences",
      ]),
    .target(
      name: "KeychainCommands",
      dependencies: [
        "CCommandLine", "Keychain", "KeychainCredentials", "KeychainSecretService",
        "KeychainSecrets", "KeychainTerminal", "KeychainVault",
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
    .testTarget(
      name: "PrephirencesTests", dependencies: ["PreferencesTool", "Prephirences"]),
    .executableTarget(
      name: "PreferencesStress", dependencies: ["Prephirences"], path: "Tests/PreferencesStress"),
    .executableTarget(
      name: "PreferencesTool", dependencies: ["Prephirences"], path: "Tests/PreferencesTool"),
    .testTarget(
      name: "PreferencesCanaryTests", dependencies: ["Prephirences"], packageAccess: false,
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .testTarget(
      name: "PrephirencesSamplesTests",
      dependencies: [
        "CryptoPrephirences", "Keychain", "Prephirences", "PrephirencesCookies",
        "PrephirencesRecords", .product(name: "GRDB", package: "GRDB.swift"),
      ],
      exclude: ["SAMPLES.md"],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "CryptoPrephirencesTests",
      dependencies: ["CryptoPrephirences", "KeychainSecrets", "Prephirences"]),
    .testTarget(
      name: "RemotePrephirencesTests", dependencies: ["Prephirences", "RemotePrephirences"]),
    .testTarget(
      name: "PrephirencesCookiesTests", dependencies: ["Prephirences", "PrephirencesCookies"]),
    .testTarget(
      name: "PrephirencesRecordsTests",
      dependencies: [
        "Prephirences", "PrephirencesRecords", .product(name: "GRDB", package: "GRDB.swift"),
      ]),
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
      name: "KeychainTerminalTests",
      dependencies: ["CTerminal", "KeychainSecrets", "KeychainTerminal"]),
    .testTarget(
      name: "KeychainCommandsTests",
      dependencies: [
        "CCommandLine", "KeychainCommands", "KeychainCredentials", "KeychainSecrets",
        "KeychainTerminal", "KeychainVault",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

let targetsThatTouchC: Set = [
  "KeychainSecrets", "KeychainSecretService", "KeychainVault", "KeychainVaultFormat",
]
let targetsInC: Set = ["CCommandLine", "CFaultVFS", "CKernelKeys", "CTerminal"]
let targetsOfClients: Set = ["PreferencesCanaryTests", "PrephirencesSamplesTests"]
let targetsWithOwnSettings = targetsInC.union(targetsOfClients)

for target in package.targets
where target.type != .system && !targetsWithOwnSettings.contains(target.name) {
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

// `Scripts/test` builds few of the tests in release; all are built where the variable is not set.
if let chosen = Context.environment["PREPHIRENCES_TEST_TARGET"], !chosen.isEmpty {
  precondition(package.targets.contains { $0.name == chosen }, "no target is named \(chosen)")
  package.targets.removeAll { $0.type == .test && $0.name != chosen }
}
