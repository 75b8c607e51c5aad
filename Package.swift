// swift-tools-version: 6.2.3
import PackageDescription

let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser")
let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")

extension Target.Dependency {
  /// A product that is resolved and built only with a trait.
  static func product(_ name: String, of package: String, if trait: String) -> Self {
    .product(name: name, package: package, condition: .when(traits: [trait]))
  }
}

/// A folder of the sources.
///
/// A floor uses itself and those before it, with one exception: the last three know nothing of each
/// other.
enum Floor: String {
  case system = "System"
  case preferences = "Preferences"
  case keychain = "Keychain"
  case server = "Server"
  case compatibility = "Compatibility"
  case commands = "Commands"
}

func target(_ floor: Floor, _ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, path: "Sources/\(floor.rawValue)/\(name)")
}

/// A library in C that the machine has.
func system(
  _ name: String, pkgConfig: String? = nil, providers: [SystemPackageProvider]? = nil
) -> Target {
  .systemLibrary(
    name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: providers)
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
    .library(name: "Prephirences", targets: ["PreferencesCore", "Prephirences"]),
    .library(
      name: "CryptoPrephirences",
      targets: ["CryptoPrephirences", "KeychainSecrets", "PreferencesCore", "Prephirences"]),
    .library(
      name: "PrephirencesCookies",
      targets: ["PreferencesCore", "Prephirences", "PrephirencesCookies"]),
    .library(
      name: "PrephirencesRecords",
      targets: ["PreferencesCore", "Prephirences", "PrephirencesRecords"]),
    .library(
      name: "RemotePrephirences",
      targets: ["PreferencesCore", "Prephirences", "RemotePrephirences"]),
    .library(
      name: "PrephirencesDurable",
      targets: ["PreferencesCore", "PreferencesDurable", "Prephirences", "PrephirencesDurable"]),
    .library(
      name: "PrephirencesShared",
      targets: [
        "PreferencesCore", "PreferencesDurable", "PreferencesShared", "Prephirences",
        "PrephirencesDurable", "PrephirencesShared",
      ]),
    .library(
      name: "SwiftyUserDefaults",
      targets: [
        "PreferencesCore", "PreferencesDurable", "Prephirences", "PrephirencesDurable",
        "SwiftyUserDefaults",
      ]),
    .library(
      name: "Palau",
      targets: [
        "Palau", "PreferencesCore", "PreferencesDurable", "Prephirences", "PrephirencesDurable",
      ]),
    .library(
      name: "TypedDefaults",
      targets: [
        "PreferencesCore", "PreferencesDurable", "Prephirences", "PrephirencesDurable",
        "TypedDefaults",
      ]),
    .library(
      name: "Keychain",
      targets: [
        "Keychain", "KeychainCredentials", "KeychainSecretService", "KeychainSecrets",
        "KeychainStores", "KeychainVault", "PreferencesCore",
      ]),
    .library(
      name: "KeychainHelpers",
      targets: [
        "KeychainCredentials", "KeychainHelpers", "KeychainSecrets", "KeychainStores",
      ]),
    .library(name: "ConfigurationKeychain", targets: ["ConfigurationKeychain", "Keychain"]),
    .library(
      name: "ConfigurationPreferences",
      targets: ["ConfigurationPreferences", "PreferencesCore", "PreferencesDurable"]),
    .library(
      name: "ServiceLifecyclePreferences",
      targets: [
        "PreferencesCore", "PreferencesDurable", "PreferencesShared", "ServiceLifecyclePreferences",
      ]),
    .library(name: "KeychainCommands", targets: ["KeychainCommands"]),
    .library(name: "PreferenceCommands", targets: ["PreferenceCommands"]),
    // For tests of credential stores; it imports Swift Testing.
    .library(
      name: "KeychainTesting",
      targets: ["KeychainCredentials", "KeychainSecrets", "KeychainTesting"]),
    .executable(name: "prefs", targets: ["PrephirencesTool"]),
  ],
  traits: [
    .trait(
      name: "RemotePreferences",
      description: "Preferences over HTTP, in RemotePrephirences; brings async-http-client."),
    .trait(
      name: "RecordPreferences",
      description: "Rows of a database as preferences, in PrephirencesRecords; brings GRDB."),
    .trait(
      name: "ConfigurationSupport",
      description: "Providers for swift-configuration, in ConfigurationKeychain and "
        + "ConfigurationPreferences; brings that package."),
    .trait(
      name: "ServiceLifecycleSupport",
      description: "Shared preferences as a service, in ServiceLifecyclePreferences; brings "
        + "swift-service-lifecycle, swift-log and swift-metrics."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    // Only with a trait: without it, they are not even downloaded.
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.3"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.86.0"),
  ],
  targets: [
    // System: files, text, processes, terminals, and the C libraries
    system("CPrephirencesLibcurl"),
    system("CPrephirencesLibsecret"),
    system(
      "CPrephirencesLibsodium", pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"]), .yum(["libsodium-devel"])]),
    system(
      "CPrephirencesSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"])]),
    target(.system, "CPrephirencesSystem"),
    target(.system, "CPrephirencesSQLiteChecks", ["CPrephirencesSQLite"]),
    target(.system, "PrephirencesSystem", ["CPrephirencesSystem", systemPackage]),

    // Preferences: values, durable on this machine, and in step on many
    target(.preferences, "PreferencesCore", ["PrephirencesSystem", systemPackage]),
    target(
      .preferences, "PreferencesDurable",
      [
        "CPrephirencesSQLite", "CPrephirencesSQLiteChecks", "PreferencesCore", "PrephirencesSystem",
        systemPackage,
      ]),
    target(
      .preferences, "PrephirencesEtcd",
      ["CPrephirencesLibcurl", "PrephirencesSystem", systemPackage]),
    target(
      .preferences, "PreferencesShared",
      [
        "PreferencesCore", "PreferencesDurable", "PrephirencesEtcd", "PrephirencesSystem",
        systemPackage,
      ]),

    // Keychain: credentials, from secrets in memory up to the library
    target(.keychain, "KeychainSecrets", ["CPrephirencesLibsodium", "PrephirencesSystem"]),
    target(
      .keychain, "KeychainCredentials", ["KeychainSecrets", "PrephirencesSystem", systemPackage]),
    target(
      .keychain, "KeychainVaultFormat",
      ["KeychainCredentials", "KeychainSecrets", "PrephirencesSystem"]),
    target(
      .keychain, "KeychainVault",
      [
        "CPrephirencesSystem", "KeychainCredentials", "KeychainSecrets", "KeychainVaultFormat",
        "PrephirencesSystem", systemPackage,
      ]),
    target(
      .keychain, "KeychainSecretService",
      [
        "CPrephirencesLibsecret", "KeychainCredentials", "KeychainSecrets", "PrephirencesSystem",
        systemPackage,
      ]),
    target(
      .keychain, "KeychainStores",
      [
        "CPrephirencesSystem", "KeychainCredentials", "KeychainSecretService", "KeychainSecrets",
        "KeychainVault", "KeychainVaultFormat", "PrephirencesSystem", systemPackage,
      ]),
    target(
      .keychain, "KeychainHelpers",
      [
        "CPrephirencesSystem", "KeychainCredentials", "KeychainSecrets", "KeychainVault",
        "PrephirencesSystem",
      ]),
    target(
      .keychain, "Keychain",
      [
        "KeychainCredentials", "KeychainSecretService", "KeychainSecrets", "KeychainStores",
        "KeychainVault", "KeychainVaultFormat", "PreferencesCore", "PrephirencesSystem",
        systemPackage,
      ]),
    target(
      .keychain, "KeychainTesting",
      ["KeychainCredentials", "KeychainSecrets", "PrephirencesSystem"]),

    // Server: what packages of Swift on servers ask for, each with a trait
    target(
      .server, "PrephirencesConfiguration",
      [
        "PreferencesCore",
        .product("Configuration", of: "swift-configuration", if: "ConfigurationSupport"),
      ]),
    target(
      .server, "ConfigurationKeychain",
      [
        "PrephirencesConfiguration", "Keychain", "KeychainCredentials", "KeychainSecrets",
        "KeychainVault", "PrephirencesSystem", systemPackage,
        .product("Configuration", of: "swift-configuration", if: "ConfigurationSupport"),
      ]),
    target(
      .server, "ConfigurationPreferences",
      [
        "PrephirencesConfiguration", "PreferencesCore", "PreferencesDurable", "PrephirencesSystem",
        .product("Configuration", of: "swift-configuration", if: "ConfigurationSupport"),
      ]),
    target(
      .server, "ServiceLifecyclePreferences",
      [
        "PreferencesCore", "PreferencesShared",
        .product("Logging", of: "swift-log", if: "ServiceLifecycleSupport"),
        .product("Metrics", of: "swift-metrics", if: "ServiceLifecycleSupport"),
        .product(
          "ServiceLifecycle", of: "swift-service-lifecycle", if: "ServiceLifecycleSupport"),
      ]),

    // Compatibility: the APIs of other libraries, and Foundation's
    target(.compatibility, "Prephirences", ["PreferencesCore", "PrephirencesSystem"]),
    target(
      .compatibility, "PrephirencesDurable",
      ["PreferencesDurable", "Prephirences"]),
    target(
      .compatibility, "PrephirencesShared",
      [
        "PreferencesDurable", "PreferencesShared", "Prephirences", "PrephirencesDurable",
        "PrephirencesSystem",
      ]),
    target(
      .compatibility, "CryptoPrephirences",
      ["KeychainSecrets", "Prephirences", "PrephirencesSystem"]),
    target(
      .compatibility, "RemotePrephirences",
      [
        "Prephirences", "PrephirencesSystem",
        .product("AsyncHTTPClient", of: "async-http-client", if: "RemotePreferences"),
        .product("NIOCore", of: "swift-nio", if: "RemotePreferences"),
        .product("NIOHTTP1", of: "swift-nio", if: "RemotePreferences"),
      ]),
    target(
      .compatibility, "PrephirencesRecords",
      [
        "Prephirences", "PrephirencesSystem",
        .product("GRDB", of: "GRDB.swift", if: "RecordPreferences"),
      ]),
    target(.compatibility, "PrephirencesCookies", ["Prephirences"]),
    target(
      .compatibility, "SwiftyUserDefaults",
      ["Prephirences", "PrephirencesDurable", "PrephirencesSystem"]),
    target(
      .compatibility, "Palau", ["Prephirences", "PrephirencesDurable", "PrephirencesSystem"]),
    target(
      .compatibility, "TypedDefaults",
      ["Prephirences", "PrephirencesDurable", "PrephirencesSystem"]),

    // Commands
    target(.commands, "CPrephirencesGlibc"),
    target(
      .commands, "PrephirencesCommandLine",
      ["CPrephirencesSystem", "PrephirencesSystem", argumentParser]),
    target(
      .commands, "PreferenceCommands",
      [
        "PreferencesCore", "PreferencesDurable", "PreferencesShared", "PrephirencesCommandLine",
        "PrephirencesEtcd", "PrephirencesSystem", argumentParser, systemPackage,
      ]),
    target(
      .commands, "KeychainCommands",
      [
        "KeychainCredentials", "KeychainHelpers", "KeychainSecretService", "KeychainSecrets",
        "KeychainStores", "KeychainVault", "PrephirencesCommandLine", "PrephirencesSystem",
        argumentParser, systemPackage,
      ]),
    .executableTarget(
      name: "PrephirencesTool",
      dependencies: [
        "CPrephirencesGlibc", "KeychainCommands", "KeychainCredentials", "KeychainSecrets",
        "PreferenceCommands", "PreferencesCore", "PreferencesDurable", "PreferencesShared",
        argumentParser,
      ],
      path: "Sources/Commands/PrephirencesTool"),

    // Support of the tests
    support("CommandTesting", ["PrephirencesCommandLine"]),
    support("CFaultVFS", linking: [.linkedLibrary("sqlite3")]),
    support("EtcdTesting", ["TestPrograms"]),
    support("FaultTesting", ["TestPrograms"]),
    support("ForwardingStores", ["KeychainCredentials", "KeychainSecrets"]),
    support(
      "KeychainVaultTesting",
      ["KeychainCredentials", "KeychainSecrets", "KeychainVault", "PrephirencesSystem"]),
    support("TestPrograms"),
    support("VaultVectors", ["KeychainSecrets"]),

    // Clients, which tests run; those that are packages of their own aren't here
    client("PlainSampleTool", ["KeychainCommands", argumentParser]),
    client("PreferenceTool", ["PreferenceCommands", argumentParser]),
    client(
      "PreferencesStress",
      [
        "Palau", "PreferencesDurable", "PreferencesShared", "Prephirences", "PrephirencesDurable",
        "PrephirencesShared", "PrephirencesSystem", "SwiftyUserDefaults", "TypedDefaults",
      ]),
    client("CoreClient", ["PreferencesCore"]),
    client("PreferencesTool", ["PreferencesDurable", "Prephirences", "PrephirencesDurable"]),
    client(
      "PortedSettings",
      [
        "Palau", "PreferencesDurable", "Prephirences", "PrephirencesDurable", "SwiftyUserDefaults",
        "TypedDefaults",
      ],
      exclude: ["Before", "README.md"]),
    client("ProgramName", ["Keychain"]),
    client(
      "ServerSettings", ["Keychain", "PreferencesDurable", "Prephirences", "PrephirencesDurable"]),
    client("SampleTool", ["Keychain", "KeychainCommands", argumentParser]),
    client(
      "SyncTool",
      [
        "PreferencesDurable", "PreferencesShared", "Prephirences", "PrephirencesDurable",
        "PrephirencesShared",
      ]),
    client(
      "UbiquitousSettings", ["PreferencesShared", "Prephirences", "PrephirencesShared"],
      exclude: ["Before", "README.md"]),
    client(
      "VaultWriterTool",
      ["KeychainCredentials", "KeychainSecrets", "KeychainVault", "KeychainVaultTesting"]),

    // Tests
    // What a program writes, in either language mode: it sees what is public only.
    tests(
      "ClientTests",
      [
        "CryptoPrephirences", "Keychain", "Palau", "PortedSettings", "Prephirences",
        "PrephirencesDurable", "PrephirencesShared", "SwiftyUserDefaults", "TestPrograms",
        "TypedDefaults", "UbiquitousSettings",
      ],
      packageAccess: false,
      settings: [
        .enableUpcomingFeature("MemberImportVisibility"), .treatAllWarnings(as: .error),
      ]),
    tests(
      "ClientMode5Tests",
      [
        "CryptoPrephirences", "Keychain", "Palau", "Prephirences", "PrephirencesCookies",
        "PrephirencesDurable", "PrephirencesRecords", "PrephirencesShared", "SwiftyUserDefaults",
        "TypedDefaults", .product("GRDB", of: "GRDB.swift", if: "RecordPreferences"),
      ],
      exclude: ["Palau", "Prephirences", "SwiftyUserDefaults", "TypedDefaults"].map {
        "\($0)/SAMPLES.md"
      },
      packageAccess: false,
      settings: [
        .enableUpcomingFeature("MemberImportVisibility"), .swiftLanguageMode(.v5),
      ]),
    tests(
      "ConfigurationTests",
      [
        "ConfigurationKeychain", "ConfigurationPreferences", "KeychainVaultTesting",
        "PreferencesShared", "Prephirences", "PrephirencesSystem",
        .product("Configuration", of: "swift-configuration", if: "ConfigurationSupport"),
        .product("ConfigurationTesting", of: "swift-configuration", if: "ConfigurationSupport"),
      ]),
    tests("CryptoPrephirencesTests", ["CryptoPrephirences", "KeychainSecrets", "Prephirences"]),
    tests(
      "KeychainCommandsTests",
      [
        "CommandTesting", "KeychainCommands", "KeychainCredentials", "KeychainSecrets",
        "KeychainStores", "KeychainVault", "KeychainVaultTesting", "PrephirencesCommandLine",
        "PrephirencesSystem", argumentParser,
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
        "KeychainStores", "KeychainTesting", "KeychainVault", "PrephirencesSystem",
      ]),
    tests("KeychainSecretsTests", ["KeychainSecrets"]),
    tests("KeychainTerminalTests", ["CPrephirencesSystem", "KeychainSecrets", "KeychainStores"]),
    tests(
      "KeychainTestingTests", ["KeychainCredentials", "KeychainSecrets", "KeychainTesting"],
      packageAccess: false),
    tests(
      "KeychainTests",
      [
        "ForwardingStores", "Keychain", "KeychainCredentials",
        "KeychainSecretService", "KeychainSecrets", "KeychainStores", "KeychainTesting",
        "KeychainVault", "KeychainVaultTesting", "PreferencesDurable", "Prephirences",
        "PrephirencesDurable",
        "PrephirencesSystem",
      ]),
    tests(
      "KeychainVaultFaultTests",
      [
        "FaultTesting", "KeychainCredentials", "KeychainSecrets", "KeychainVault",
        "KeychainVaultFormat", "KeychainVaultTesting", "PrephirencesSystem", "VaultWriterTool",
        systemPackage,
      ]),
    tests(
      "KeychainVaultFormatTests",
      ["KeychainCredentials", "KeychainSecrets", "KeychainVaultFormat", "VaultVectors"]),
    tests(
      "KeychainVaultTests",
      [
        "KeychainCredentials", "KeychainSecrets", "KeychainTesting", "KeychainVault",
        "KeychainVaultFormat", "KeychainVaultTesting", "PrephirencesSystem", "VaultVectors",
        systemPackage,
      ]),
    tests(
      "PalauTests",
      [
        "Palau", "PreferencesDurable", "Prephirences", "PrephirencesDurable", "SwiftyUserDefaults",
        "TypedDefaults",
      ]),
    tests(
      "PreferenceCommandsTests",
      [
        "CommandTesting", "PreferenceCommands", "PreferencesCore", "PreferencesDurable",
        "Prephirences", "PrephirencesCommandLine", "PrephirencesDurable", "PrephirencesSystem",
        argumentParser,
      ]),
    tests(
      "PrephirencesCommandLineTests",
      ["CPrephirencesSystem", "PrephirencesCommandLine", "PrephirencesSystem", argumentParser]),
    tests("PrephirencesCookiesTests", ["Prephirences", "PrephirencesCookies"]),
    tests(
      "PrephirencesDurableFaultTests",
      [
        "CFaultVFS", "FaultTesting", "PreferencesDurable", "PreferencesTool", "Prephirences",
        "PrephirencesDurable", "PrephirencesSystem",
      ]),
    tests(
      "PrephirencesDurableTests",
      [
        "PreferencesDurable", "PreferencesTool", "Prephirences", "PrephirencesDurable",
        "PrephirencesSystem",
      ]),
    tests(
      "PrephirencesEtcdTests",
      ["CPrephirencesLibcurl", "EtcdTesting", "PrephirencesEtcd", "PrephirencesSystem"]),
    tests("PrephirencesFilesTests", ["PrephirencesSystem", systemPackage]),
    tests(
      "PrephirencesRecordsTests",
      [
        "Prephirences", "PrephirencesRecords",
        .product("GRDB", of: "GRDB.swift", if: "RecordPreferences"),
      ]),
    tests(
      "PrephirencesSharedTests",
      [
        "CryptoPrephirences", "EtcdTesting", "PreferencesDurable", "PreferencesShared",
        "Prephirences", "PrephirencesDurable", "PrephirencesEtcd", "PrephirencesShared",
        "PrephirencesSystem", "TestPrograms", "UbiquitousSettings",
      ]),
    tests(
      "PrephirencesTests",
      ["CoreClient", "PreferencesCore", "PreferencesTool", "Prephirences", "TestPrograms"]),
    tests("RemotePrephirencesTests", ["Prephirences", "RemotePrephirences"]),
    tests(
      "ServiceLifecyclePreferencesTests",
      [
        "EtcdTesting", "PreferencesShared", "PrephirencesSystem", "ServiceLifecyclePreferences",
        .product("Logging", of: "swift-log", if: "ServiceLifecycleSupport"),
        .product("MetricsTestKit", of: "swift-metrics", if: "ServiceLifecycleSupport"),
        .product(
          "ServiceLifecycle", of: "swift-service-lifecycle", if: "ServiceLifecycleSupport"),
        .product(
          "ServiceLifecycleTestKit", of: "swift-service-lifecycle", if: "ServiceLifecycleSupport"),
      ]),
    tests(
      "SwiftyUserDefaultsTests",
      ["PreferencesDurable", "Prephirences", "PrephirencesDurable", "SwiftyUserDefaults"]),
    tests(
      "TypedDefaultsTests",
      ["PreferencesDurable", "Prephirences", "PrephirencesDurable", "TypedDefaults"]),
  ],
  swiftLanguageModes: [.v6]
)

let targetsThatTouchC: Set = [
  "KeychainSecretService", "KeychainSecrets", "KeychainStores", "KeychainVault",
  "KeychainVaultFormat", "PreferencesDurable", "PrephirencesEtcd", "PrephirencesSystem",
]
let targetsInC: Set = [
  "CFaultVFS", "CPrephirencesGlibc", "CPrephirencesSQLiteChecks", "CPrephirencesSystem",
]
let targetsOfClients: Set = ["ClientMode5Tests", "ClientTests"]
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
