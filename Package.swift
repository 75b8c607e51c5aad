// swift-tools-version: 6.2
import PackageDescription

let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")

/// A product that only the trait `RemotePreferences` needs.
func remote(_ name: String, package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: ["RemotePreferences"]))
}

/// The tests in `Tests/Swift/NAME`.
func tests(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [],
  packageAccess: Bool = true, settings: [SwiftSetting]? = nil
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, path: "Tests/Swift/\(name)", exclude: exclude,
    packageAccess: packageAccess, swiftSettings: settings)
}

/// What several tests use, in `Tests/Support/NAME`.
func support(
  _ name: String, _ dependencies: [Target.Dependency] = [], linking: [LinkerSetting]? = nil
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Tests/Support/\(name)", linkerSettings: linking)
}

/// A program that tests run, in `Tests/Clients/NAME`.
func client(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Tests/Clients/\(name)", exclude: exclude)
}

let package = Package(
  name: "Prephirences",
  products: [
    .library(name: "Prephirences", targets: ["Prephirences"]),
    .library(
      name: "CryptoPrephirences",
      targets: ["CryptoPrephirences", "KeychainSecrets", "Prephirences"]),
    .library(name: "PrephirencesCookies", targets: ["Prephirences", "PrephirencesCookies"]),
    .library(name: "PrephirencesRecords", targets: ["Prephirences", "PrephirencesRecords"]),
    .library(name: "RemotePrephirences", targets: ["Prephirences", "RemotePrephirences"]),
    .library(name: "PrephirencesDurable", targets: ["Prephirences", "PrephirencesDurable"]),
    .library(
      name: "PrephirencesShared",
      targets: ["Prephirences", "PrephirencesDurable", "PrephirencesShared"]),
    .library(
      name: "SwiftyUserDefaults",
      targets: ["Prephirences", "PrephirencesDurable", "SwiftyUserDefaults"]),
    .library(name: "Palau", targets: ["Palau", "Prephirences", "PrephirencesDurable"]),
    .library(
      name: "TypedDefaults", targets: ["Prephirences", "PrephirencesDurable", "TypedDefaults"]),
    .library(
      name: "Keychain",
      targets: [
        "Keychain", "KeychainCredentials", "KeychainSecretService", "KeychainSecrets",
        "KeychainStores", "KeychainTerminal", "KeychainVault", "Prephirences",
      ]),
    .library(
      name: "KeychainHelpers",
      targets: [
        "KeychainCredentials", "KeychainHelpers", "KeychainSecrets", "KeychainStores",
      ]),
    .library(name: "KeychainCommands", targets: ["KeychainCommands"]),
    .library(name: "PreferenceCommands", targets: ["PreferenceCommands"]),
    // For tests of credential stores; it imports Swift Testing.
    .library(
      name: "KeychainTesting",
      targets: ["KeychainCredentials", "KeychainSecrets", "KeychainTesting"]),
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
    // C
    .target(name: "CCommandLine"),
    .systemLibrary(name: "CFileCalls"),
    .target(name: "CInheritedFiles"),
    .target(name: "CKernelKeys"),
    .systemLibrary(name: "CLibcurl"),
    .systemLibrary(name: "CLibsecret"),
    .systemLibrary(
      name: "CLibsodium",
      pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"]), .yum(["libsodium-devel"])]),
    .target(name: "CTerminal"),

    // Preferences
    .target(name: "Prephirences"),
    .target(name: "CryptoPrephirences", dependencies: ["KeychainSecrets", "Prephirences"]),
    .target(name: "PrephirencesCookies", dependencies: ["Prephirences"]),
    .target(name: "PrephirencesFiles", dependencies: ["CFileCalls", systemPackage]),
    .target(name: "PrephirencesText"),
    .target(
      name: "PrephirencesDurable",
      dependencies: ["Prephirences", "PrephirencesFiles", grdbSQLite, systemPackage]),
    .target(name: "PrephirencesRecords", dependencies: ["Prephirences", grdb]),
    .target(
      name: "RemotePrephirences",
      dependencies: [
        "Prephirences",
        remote("AsyncHTTPClient", package: "async-http-client"),
        remote("NIOCore", package: "swift-nio"),
        remote("NIOHTTP1", package: "swift-nio"),
      ]),

    // Preferences on many machines
    .target(
      name: "PrephirencesEtcd",
      dependencies: ["CLibcurl", "PrephirencesFiles", "PrephirencesText", systemPackage]),
    .target(
      name: "PrephirencesShared",
      dependencies: [
        "Prephirences", "PrephirencesDurable", "PrephirencesEtcd", "PrephirencesFiles",
        systemPackage,
      ]),

    // The APIs of other libraries, over the durable store
    .target(name: "Palau", dependencies: ["Prephirences", "PrephirencesDurable"]),
    .target(name: "SwiftyUserDefaults", dependencies: ["Prephirences", "PrephirencesDurable"]),
    .target(name: "TypedDefaults", dependencies: ["Prephirences", "PrephirencesDurable"]),

    // Credentials, from the bottom up
    .target(name: "KeychainSecrets", dependencies: ["CLibsodium"]),
    .target(
      name: "KeychainCredentials",
      dependencies: ["KeychainSecrets", "PrephirencesFiles", "PrephirencesText", systemPackage]),
    .target(name: "KeychainTesting", dependencies: ["KeychainCredentials", "KeychainSecrets"]),
    .target(
      name: "KeychainVaultFormat",
      dependencies: ["KeychainCredentials", "KeychainSecrets", "PrephirencesText"]),
    .target(
      name: "KeychainVault",
      dependencies: [
        "CFileCalls", "CKernelKeys", "KeychainCredentials", "KeychainSecrets",
        "KeychainVaultFormat", "PrephirencesFiles", systemPackage,
      ]),
    .target(
      name: "KeychainSecretService",
      dependencies: [
        "CLibsecret", "KeychainCredentials", "KeychainSecrets", "PrephirencesFiles",
        "PrephirencesText", systemPackage,
      ]),
    .target(
      name: "KeychainTerminal",
      dependencies: [
        "CTerminal", "KeychainCredentials", "KeychainSecrets", "KeychainVault", "PrephirencesFiles",
        "PrephirencesText", systemPackage,
      ]),
    .target(
      name: "KeychainStores",
      dependencies: [
        "KeychainCredentials", "KeychainSecretService", "KeychainSecrets", "KeychainVault",
        "KeychainVaultFormat", "PrephirencesFiles", "PrephirencesText", systemPackage,
      ]),
    .target(
      name: "KeychainHelpers",
      dependencies: [
        "CInheritedFiles", "KeychainCredentials", "KeychainSecrets", "KeychainStores",
        "KeychainVault", "PrephirencesFiles", "PrephirencesText",
      ]),
    .target(
      name: "Keychain",
      dependencies: [
        "KeychainCredentials", "KeychainSecretService", "KeychainSecrets", "KeychainStores",
        "KeychainTerminal", "KeychainVault", "KeychainVaultFormat", "Prephirences",
        "PrephirencesFiles", systemPackage,
      ]),

    // Commands
    .target(
      name: "PrephirencesCommandLine",
      dependencies: ["CCommandLine", "PrephirencesText", argumentParser]),
    .target(
      name: "PreferenceCommands",
      dependencies: [
        "Prephirences", "PrephirencesCommandLine", "PrephirencesDurable", "PrephirencesEtcd",
        "PrephirencesFiles", "PrephirencesShared", "PrephirencesText", argumentParser,
        systemPackage,
      ]),
    .target(
      name: "KeychainCommands",
      dependencies: [
        "KeychainCredentials", "KeychainHelpers", "KeychainSecretService", "KeychainSecrets",
        "KeychainStores", "KeychainTerminal", "KeychainVault", "PrephirencesCommandLine",
        "PrephirencesFiles", "PrephirencesText", argumentParser, systemPackage,
      ]),
    .executableTarget(
      name: "prefs",
      dependencies: [
        "KeychainCommands", "KeychainCredentials", "KeychainSecrets", "PreferenceCommands",
        "Prephirences", "PrephirencesShared", argumentParser,
      ]),

    // Support of the tests
    support("CFaultVFS", linking: [.linkedLibrary("sqlite3")]),
    support("EtcdTesting", ["TestPrograms"]),
    support("FaultTesting", ["TestPrograms"]),
    support("ForwardingStores", ["KeychainCredentials", "KeychainSecrets"]),
    support(
      "KeychainVaultTesting",
      ["KeychainCredentials", "KeychainSecrets", "KeychainVault", "PrephirencesFiles"]),
    support("QuickPathTesting", ["PrephirencesCommandLine", argumentParser]),
    support("TestPrograms"),
    support("VaultVectors", ["KeychainSecrets"]),

    // Clients, which tests run; those that are packages of their own aren't here
    .target(
      name: "ImportCanary", dependencies: ["Keychain"], path: "Tests/Clients/ImportCanary",
      packageAccess: false),
    client("PlainSampleTool", ["KeychainCommands", argumentParser]),
    client("ParsedPrefs", ["KeychainCommands", "PreferenceCommands", argumentParser]),
    client("PreferenceTool", ["PreferenceCommands", argumentParser]),
    client(
      "PreferencesStress",
      [
        "Palau", "Prephirences", "PrephirencesDurable", "PrephirencesFiles", "PrephirencesShared",
        "SwiftyUserDefaults", "TypedDefaults",
      ]),
    client("PreferencesTool", ["Prephirences", "PrephirencesDurable"]),
    client("DurableTool", ["Prephirences", "PrephirencesDurable"]),
    client(
      "PortedSettings",
      ["Palau", "Prephirences", "PrephirencesDurable", "SwiftyUserDefaults", "TypedDefaults"],
      exclude: ["Before", "README.md"]),
    client("ServerSettings", ["Keychain", "Prephirences", "PrephirencesDurable"]),
    client("SampleTool", ["Keychain", "KeychainCommands", argumentParser]),
    client("SyncTool", ["Prephirences", "PrephirencesDurable", "PrephirencesShared"]),
    client(
      "UbiquitousSettings", ["Prephirences", "PrephirencesShared"],
      exclude: ["Before", "README.md"]),
    client(
      "VaultWriterTool",
      ["KeychainCredentials", "KeychainSecrets", "KeychainVault", "KeychainVaultTesting"]),

    // Tests
    tests("CryptoPrephirencesTests", ["CryptoPrephirences", "KeychainSecrets", "Prephirences"]),
    tests("DurableCanaryTests", ["PrephirencesDurable"], packageAccess: false),
    tests(
      "KeychainCommandsTests",
      [
        "KeychainCommands", "KeychainCredentials", "KeychainSecrets", "KeychainVault",
        "PrephirencesCommandLine", "QuickPathTesting", argumentParser,
      ]),
    tests(
      "KeychainCredentialsTests",
      ["ForwardingStores", "KeychainCredentials", "KeychainSecrets", "KeychainTesting"]),
    tests(
      "KeychainHelpersTests",
      ["ForwardingStores", "KeychainCredentials", "KeychainHelpers", "KeychainSecrets"]),
    tests(
      "KeychainSecretServiceTests",
      [
        "Keychain", "KeychainCredentials", "KeychainSecretService", "KeychainSecrets",
        "KeychainStores", "KeychainTesting", "KeychainVault", "PrephirencesFiles",
      ]),
    tests("KeychainSecretsTests", ["KeychainSecrets"]),
    tests("KeychainTerminalTests", ["CTerminal", "KeychainSecrets", "KeychainTerminal"]),
    tests(
      "KeychainTestingTests", ["KeychainCredentials", "KeychainSecrets", "KeychainTesting"],
      packageAccess: false),
    tests(
      "KeychainTests",
      [
        "ForwardingStores", "ImportCanary", "Keychain", "KeychainCredentials",
        "KeychainSecretService",
        "KeychainSecrets", "KeychainStores", "KeychainTesting", "KeychainVault",
        "KeychainVaultTesting", "PrephirencesDurable", "PrephirencesFiles",
      ]),
    tests(
      "KeychainVaultFaultTests",
      [
        "FaultTesting", "KeychainCredentials", "KeychainSecrets", "KeychainVault",
        "KeychainVaultFormat", "KeychainVaultTesting", "PrephirencesFiles", "VaultWriterTool",
        systemPackage,
      ]),
    tests(
      "KeychainVaultFormatTests",
      ["KeychainCredentials", "KeychainSecrets", "KeychainVaultFormat", "VaultVectors"]),
    tests(
      "KeychainVaultTests",
      [
        "KeychainCredentials", "KeychainSecrets", "KeychainTesting", "KeychainVault",
        "KeychainVaultFormat", "KeychainVaultTesting", "PrephirencesFiles", "VaultVectors",
        systemPackage,
      ]),
    tests(
      "PreferencesCanaryTests", ["Prephirences"], packageAccess: false,
      settings: [.treatAllWarnings(as: .error)]),
    tests(
      "FacadesCanaryTests",
      [
        "CryptoPrephirences", "Keychain", "Palau", "PortedSettings", "Prephirences",
        "PrephirencesDurable", "SwiftyUserDefaults", "TestPrograms", "TypedDefaults",
      ], packageAccess: false),
    tests(
      "FacadesCanaryMode5Tests",
      [
        "CryptoPrephirences", "Keychain", "Palau", "Prephirences", "PrephirencesDurable",
        "SwiftyUserDefaults", "TypedDefaults",
      ], packageAccess: false, settings: [.swiftLanguageMode(.v5)]),
    tests(
      "PalauTests",
      ["Palau", "Prephirences", "PrephirencesDurable", "SwiftyUserDefaults", "TypedDefaults"]),
    tests(
      "PalauSamplesTests", ["Palau", "Prephirences"], exclude: ["SAMPLES.md"],
      packageAccess: false, settings: [.swiftLanguageMode(.v5)]),
    tests(
      "PreferenceCommandsTests",
      [
        "PreferenceCommands", "Prephirences", "PrephirencesCommandLine", "PrephirencesDurable",
        "QuickPathTesting", argumentParser,
      ]),
    tests(
      "PrephirencesCommandLineTests",
      ["CCommandLine", "PrephirencesCommandLine", "PrephirencesText", argumentParser]),
    tests("PrephirencesCookiesTests", ["Prephirences", "PrephirencesCookies"]),
    tests(
      "PrephirencesDurableFaultTests",
      [
        "CFaultVFS", "DurableTool", "FaultTesting", "Prephirences", "PrephirencesDurable",
        "PrephirencesFiles",
      ]),
    tests(
      "PrephirencesDurableTests",
      ["DurableTool", "Prephirences", "PrephirencesDurable", "PrephirencesFiles"]),
    tests(
      "PrephirencesEtcdTests",
      ["CLibcurl", "EtcdTesting", "PrephirencesEtcd", "PrephirencesFiles"]),
    tests("PrephirencesFilesTests", ["PrephirencesFiles", systemPackage]),
    tests("PrephirencesRecordsTests", ["Prephirences", "PrephirencesRecords", grdb]),
    tests(
      "PrephirencesSamplesTests",
      [
        "CryptoPrephirences", "Keychain", "Prephirences", "PrephirencesCookies",
        "PrephirencesRecords", grdb,
      ],
      exclude: ["SAMPLES.md"], settings: [.swiftLanguageMode(.v5)]),
    tests(
      "PrephirencesSharedTests",
      [
        "CryptoPrephirences", "EtcdTesting", "Prephirences", "PrephirencesDurable",
        "PrephirencesEtcd", "PrephirencesFiles", "PrephirencesShared", "TestPrograms",
        "UbiquitousSettings",
      ]),
    tests("PrephirencesTests", ["PreferencesTool", "Prephirences", "TestPrograms"]),
    tests("RemotePrephirencesTests", ["Prephirences", "RemotePrephirences"]),
    tests(
      "SwiftyUserDefaultsTests", ["Prephirences", "PrephirencesDurable", "SwiftyUserDefaults"]),
    tests(
      "SwiftyUserDefaultsSamplesTests", ["SwiftyUserDefaults"], exclude: ["SAMPLES.md"],
      packageAccess: false, settings: [.swiftLanguageMode(.v5)]),
    tests(
      "UbiquitousCanaryTests",
      ["Prephirences", "PrephirencesShared", "TestPrograms", "UbiquitousSettings"],
      packageAccess: false),
    tests(
      "UbiquitousCanaryMode5Tests", ["Prephirences", "PrephirencesShared"], packageAccess: false,
      settings: [.swiftLanguageMode(.v5)]),
    tests("TypedDefaultsTests", ["Prephirences", "PrephirencesDurable", "TypedDefaults"]),
    tests(
      "TypedDefaultsSamplesTests", ["Prephirences", "TypedDefaults"], exclude: ["SAMPLES.md"],
      packageAccess: false, settings: [.swiftLanguageMode(.v5)]),
  ],
  swiftLanguageModes: [.v6]
)

let targetsThatTouchC: Set = [
  "KeychainSecretService", "KeychainSecrets", "KeychainStores", "KeychainVault",
  "KeychainVaultFormat", "PrephirencesDurable", "PrephirencesEtcd", "PrephirencesFiles",
]
let targetsInC: Set = [
  "CCommandLine", "CFaultVFS", "CInheritedFiles", "CKernelKeys", "CTerminal",
]
let targetsOfClients: Set = [
  "FacadesCanaryMode5Tests", "PalauSamplesTests", "PreferencesCanaryTests",
  "PrephirencesSamplesTests", "SwiftyUserDefaultsSamplesTests", "TypedDefaultsSamplesTests",
  "UbiquitousCanaryMode5Tests",
]
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
