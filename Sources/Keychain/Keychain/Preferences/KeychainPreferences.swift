internal import FoundationEssentials
public import KeychainCredentials
internal import KeychainStores
public import KeychainVault
public import PreferencesCore
internal import PrephirencesSystem

/// Preferences that stay encrypted: tokens, passwords and other values of one service.
///
/// ```swift
/// import Keychain
///
/// let keychain = KeychainPreferences(service: "com.example.deploy")
/// do {
///   try keychain.set("the token", for: "api")
///   if let token = try keychain.string(for: "api") { use(token) }
/// } catch {
///   print(error)  // what failed and what to do next; error.code tells a program
/// }
/// ```
///
/// Each key is the account of a credential in a ``CredentialStore``. Keys compare as bytes. Values
/// are returned with the type they were stored with: text, data, truth values, numbers, dates,
/// URLs, UUIDs, arrays and dictionaries of these, and any `Codable` value. Text and data are stored
/// as they are, so that other programs can read them.
///
/// If the caller does not name a type, a `Codable` value is decoded by the stored name of its type.
/// A private or local type cannot be found by name: `keychain["api"]` and `value(for:)` return the
/// JSON data of its values. Read them with `value(_:for:)`, which takes the type.
///
/// There are two ways to use it. The throwing methods (`string(for:)`, `set(_:for:)` …) report
/// failures. The methods and subscripts of `MutablePreferencesType` (`string(forKey:)`,
/// `keychain["api"]` …) return `nil` for a failure, and ``lastError`` reports it. Both block the
/// thread: asynchronous code calls them in ``perform(_:)``.
///
/// No person is asked for a passphrase, and nothing is printed, unless you pass the initializer an
/// ``Interaction``, such as `.terminal`, and a closure for notices.
///
/// A new value keeps the label, the comment and the attributes of its credential; the expiry of the
/// old value is removed. Reading an expired credential fails with ``KeychainError/Code/expired``
/// unless `allowingExpired` is `true`. To read a value that can be renewed, use
/// ``value(_:for:expires:validWhile:deadline:renew:)``.
public final class KeychainPreferences: MutablePreferencesType, PreferencesAdapter, Sendable {
  struct State {
    var accessGroup: String?
    var accessibility: Accessibility
    var lastError: KeychainError?
    var lastStatus: OSStatus?
  }

  let state: PosixMutex<State>

  /// The kind and names of the credentials, with an empty account.
  let kind: CredentialIdentity.Kind

  /// The store that keeps the credentials.
  public let store: any CredentialStore

  /// Creates preferences of generic passwords; nothing is read or created before the first use.
  ///
  /// - Parameters:
  ///   - service: The service of the credentials, such as `com.example.deploy`.
  ///   - accessGroup: The access group; `nil` for the unnamed one.
  ///   - accessibility: When values that are set from now on can be read.
  public init(
    service: String, accessGroup: String? = nil, accessibility: Accessibility = .whenUnlocked,
    store: any CredentialStore = KeychainPreferences.defaultStore
  ) {
    kind = .genericPassword(service: service, account: "")
    state = PosixMutex(State(accessGroup: accessGroup, accessibility: accessibility))
    self.store = store
  }

  /// Creates preferences of internet passwords, whose keys are accounts on a server.
  ///
  /// The names are those of ``InternetPassword``; the other parameters are as for generic
  /// passwords.
  public init(
    server: String, protocol: String = "", port: UInt16 = 0, path: String = "",
    securityDomain: String = "", authenticationType: String = "", accessGroup: String? = nil,
    accessibility: Accessibility = .whenUnlocked,
    store: any CredentialStore = KeychainPreferences.defaultStore
  ) {
    kind = .internetPassword(
      InternetPassword(
        server: server, protocol: `protocol`, port: port, path: path, account: "",
        securityDomain: securityDomain, authenticationType: authenticationType))
    state = PosixMutex(State(accessGroup: accessGroup, accessibility: accessibility))
    self.store = store
  }

  /// Creates preferences of the same credentials, with their own settings.
  init(copying other: KeychainPreferences) {
    kind = other.kind
    state = PosixMutex(State(accessGroup: other.accessGroup, accessibility: other.accessibility))
    store = other.store
  }

  /// The access group of the credentials; `nil` for the unnamed one.
  public var accessGroup: String? {
    get { state.withLock(\.accessGroup) }
    set { state.withLock { $0.accessGroup = newValue } }
  }

  /// When values that are set from now on can be read; stored values keep their accessibility.
  public var accessibility: Accessibility {
    get { state.withLock(\.accessibility) }
    set { state.withLock { $0.accessibility = newValue } }
  }

  /// The service of generic passwords; `nil` for internet passwords.
  public var service: String? {
    if case .genericPassword(let service, _) = kind { service } else { nil }
  }

  /// The server of internet passwords; `nil` for generic passwords.
  public var server: String? {
    if case .internetPassword(let password) = kind { password.server } else { nil }
  }

  /// Returns the identity of a key's credential in the store, whether or not the credential exists.
  public func identity(for key: String) -> CredentialIdentity {
    CredentialIdentity(kind.with(account: key), accessGroup: accessGroup ?? "")
  }
}

extension CredentialIdentity.Kind {
  func with(account: String) -> Self {
    switch self {
    case .genericPassword(let service, _):
      return .genericPassword(service: service, account: account)
    case .internetPassword(var password):
      password.account = account
      return .internetPassword(password)
    }
  }
}

extension KeychainPreferences {
  /// The default store, one handle for the whole process: the desktop keyring or the vault, as
  /// ``AutomaticStore`` chooses for each service.
  public static let defaultStore: any CredentialStore = AutomaticStore()

  private static let shared = PosixMutex<KeychainPreferences?>(nil)

  /// The preferences of this program, which can be replaced.
  ///
  /// Their service is the identifier of the main bundle, or else, as is usual on Linux, the name of
  /// the executable.
  public static var sharedInstance: KeychainPreferences {
    get {
      shared.withLock { shared in
        let instance = shared ?? KeychainPreferences(service: ProgramIdentifier.current)
        shared = instance
        return instance
      }
    }
    set { shared.withLock { $0 = newValue } }
  }

  /// Creates preferences of generic passwords for a program that a person uses.
  ///
  /// ```swift
  /// let keychain = KeychainPreferences(service: "com.example.deploy", interaction: .terminal)
  /// ```
  ///
  /// The store is a new ``AutomaticStore``. Nothing is read, created or asked before the first use.
  ///
  /// - Parameters:
  ///   - service: The service of the credentials, such as `com.example.deploy`.
  ///   - accessGroup: The access group; `nil` for the unnamed one.
  ///   - accessibility: When values that are set from now on can be read.
  ///   - interaction: Whether and how a person may be asked for the passphrase of the vault. Unless
  ///     it is denied, the desktop keyring may show its dialogs, too.
  ///   - notice: Called with information for a person, such as which store the service got; `nil`
  ///     for no notices.
  public convenience init(
    service: String, accessGroup: String? = nil, accessibility: Accessibility = .whenUnlocked,
    interaction: Interaction, notice: (@Sendable (Notice) -> Void)? = nil
  ) {
    self.init(
      service: service, accessGroup: accessGroup, accessibility: accessibility,
      store: AutomaticStore(configuration: .init(interaction: interaction, notice: notice)))
  }

  /// Creates preferences of internet passwords for a program that a person uses.
  ///
  /// The names are those of ``InternetPassword``; the other parameters are as for generic
  /// passwords.
  public convenience init(
    server: String, protocol: String = "", port: UInt16 = 0, path: String = "",
    securityDomain: String = "", authenticationType: String = "", accessGroup: String? = nil,
    accessibility: Accessibility = .whenUnlocked, interaction: Interaction,
    notice: (@Sendable (Notice) -> Void)? = nil
  ) {
    self.init(
      server: server, protocol: `protocol`, port: port, path: path,
      securityDomain: securityDomain, authenticationType: authenticationType,
      accessGroup: accessGroup, accessibility: accessibility,
      store: AutomaticStore(configuration: .init(interaction: interaction, notice: notice)))
  }
}

/// The name of this program, which is the service of its shared preferences.
///
/// It is the identifier of Foundation's `Bundle.main`, which a program without Foundation does not
/// have, or else the name of the executable. Another answer would lose the credentials of programs,
/// so a test compares both in every kind of directory.
enum ProgramIdentifier {
  static let current: String = {
    guard let executable = path(ofLink: "/proc/self/exe") else {
      return ProcessInfo.processInfo.processName
    }
    return identifier(ofBundle: bundle(ofExecutable: executable)) ?? name(in: executable)
  }()

  /// The directories that may contain `Info.plist`, in order: the first that exists decides.
  private static let supportDirectories = ["Contents", "Resources", "Support Files"]

  /// Returns the directory of the bundle: that of the executable, unless it is `Contents/Linux`.
  private static func bundle(ofExecutable path: String) -> String {
    let directory = parent(of: path)
    guard name(in: directory) == "Linux", !parent(of: directory).isEmpty else { return directory }
    let outer = parent(of: directory)
    return parent(of: name(in: outer) == "Executables" ? parent(of: outer) : outer)
  }

  private static func identifier(ofBundle directory: String) -> String? {
    let support = supportDirectory(of: directory)
    // These are parts of a bundle, not bundles.
    guard support != nil || !supportDirectories.contains(where: directory.hasSuffix) else {
      return nil
    }
    let path = [directory, support, "Info.plist"].compactMap(\.self).joined(separator: "/")
    // Anybody who can write this file can replace the program, so it is read without a limit.
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    return try? PropertyListDecoder().decode(Information.self, from: data).identifier
  }

  /// Finds names in any case, and any links, even if they don't open, as Foundation does.
  private static func supportDirectory(of directory: String) -> String? {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return supportDirectories.first { name in
      entries.contains { entry in
        guard entry.lowercased() == name.lowercased() else { return false }
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/\(entry)")
        let type = attributes?[.type] as? FileAttributeType
        return type == .typeDirectory || type == .typeSymbolicLink
      }
    }
  }

  private struct Information: Decodable {
    let identifier: String

    private enum CodingKeys: String, CodingKey { case identifier = "CFBundleIdentifier" }
  }

  private static func path(ofLink link: String) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: link)
  }

  private static func name(in path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  private static func parent(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
  }
}
