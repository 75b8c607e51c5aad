internal import FoundationEssentials
package import PreferencesCore
internal import PreferencesDurable
package import PrephirencesEtcd
package import PrephirencesSystem
internal import SystemPackage

/// Where a suite of preferences is shared.
///
/// It is the file `prephirences/shared/SUITE.json` in `XDG_CONFIG_HOME`, or in `.config` in the
/// home folder, so that all programs of the user share the suite. The file belongs to the user
/// alone (0600), and contains no password.
public struct SharingConfiguration: Sendable, Hashable, Codable {
  /// The address of the store: `etcd+https://a:2379,b:2379/prefix`, without a name or password.
  ///
  /// `etcd+http` is for addresses of this machine only. If the address is `etcd+https:///prefix`,
  /// the variables `ETCDCTL_ENDPOINTS`, `ETCDCTL_CACERT`, `ETCDCTL_CERT`, `ETCDCTL_KEY` and
  /// `ETCDCTL_USER` supply what is missing when sharing begins, and the file saves that.
  public var address: String

  /// The name of the store under the prefix; `nil` for the name of the suite.
  public var store: String?

  /// The path of a file with authorities' certificates; `nil` for those of the system.
  public var certificateAuthority: String?

  /// The path of the client's certificate, which must not have a common name.
  public var certificate: String?

  /// The path of the certificate's key.
  public var key: String?

  /// The name of the user.
  public var user: String?

  /// The path of a file with the user's password, which nobody else can read.
  public var passwordFile: String?

  /// A reference to the user's password instead of a file, such as `keychain://etcd/fleet`; see
  /// ``SharedPreferences/readReferences(_:)``.
  public var passwordReference: String?

  /// The address of an HTTP proxy; proxies in the environment are ignored.
  public var proxy: String?

  /// The greatest number of keys; `nil` for 1024.
  public var quotaKeys: Int?

  /// The greatest size of all keys and values, in bytes; `nil` for 1 MiB.
  public var quotaBytes: Int?

  /// Whether conflicts wait for a program that gives ``SharedPreferences`` a closure; `nil` until
  /// the first such program sets it.
  public var programDecides: Bool?

  /// What other machines call this one, which proves nothing; `nil` for the host name.
  public var machine: String?

  /// Creates a configuration.
  ///
  /// - Parameter address: The address of the store.
  public init(address: String) { self.address = address }

  /// The fields of the file, also their names in errors.
  enum CodingKeys: String, CodingKey, CaseIterable {
    case address, store, certificateAuthority, certificate, key, user, passwordFile
    case passwordReference, proxy, quotaKeys, quotaBytes, programDecides, machine
  }
}

extension SharingConfiguration {
  /// Reads the text of a file.
  init(json: Data, path: String) throws(PreferencesError) {
    do {
      _ = try JSONDecoder().decode(KnownFields.self, from: json)
      self = try JSONDecoder().decode(Self.self, from: json)
    } catch {
      throw PreferencesError(
        .invalidAddress, "the settings of sharing cannot be used: \(Self.reason(error)): \(path)")
    }
  }

  /// The text of a file.
  var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(self) + [UInt8(ascii: "\n")]
    }
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as UnknownField: "the field '\(error.name)' is unknown"
    case DecodingError.keyNotFound(let key, _): "the field '\(key.stringValue)' is missing"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      context.codingPath.last.map { "the field '\($0.stringValue)' has a value of another type" }
        ?? "it is not an object"
    case DecodingError.dataCorrupted(let context):
      context.codingPath.last.map { "the field '\($0.stringValue)' has no usable value" }
        ?? "it is not JSON"
    default: "it is not JSON"
    }
  }
}

private struct UnknownField: Error {
  let name: String
}

/// Refuses an unknown field: a misspelt name would share without the intended setting.
private struct KnownFields: Decodable {
  private struct AnyField: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    let names = try decoder.container(keyedBy: AnyField.self).allKeys.map(\.stringValue)
    let known = Set(SharingConfiguration.CodingKeys.allCases.map(\.rawValue))
    if let unknown = names.sorted().first(where: { !known.contains($0) }) {
      throw UnknownField(name: unknown)
    }
  }
}

extension SharingConfiguration {
  private static let greatestSize = 65_536

  /// Returns the configuration of a suite, or `nil` if it is not shared.
  package static func load(
    suiteName: String, environment: EnvironmentVariables = .process
  ) throws(PreferencesError) -> SharingConfiguration? {
    let path = try path(suiteName, environment)
    let real = try translated(TrustedPath(resolving: path)).path
    guard try translated(PrivateFile.inspect(real)) != nil else { return nil }
    let bytes: [UInt8]
    do throws(Errno) {
      let descriptor = try PrivateFile.open(real)
      defer { try? descriptor.close() }
      bytes = try DescriptorIO.read(descriptor, greatestSize + 1)
    } catch {
      if error == .noSuchFileOrDirectory { return nil }
      throw PreferencesError(.failed(error, "read", path))
    }
    guard bytes.count <= greatestSize else {
      throw PreferencesError(.invalidAddress, "the settings of sharing are too long: \(path)")
    }
    let configuration = try Self(json: Data(bytes), path: path)
    try configuration.check()
    return configuration
  }

  /// Writes the file in one step, readable by the user alone.
  package func save(
    suiteName: String, environment: EnvironmentVariables = .process
  ) throws(PreferencesError) {
    try check()
    let path = try Self.path(suiteName, environment)
    let bytes: [UInt8]
    do {
      bytes = try [UInt8](json)
    } catch {
      throw PreferencesError(.invalidAddress, "the settings of sharing are not text: \(path)")
    }
    let folder = try Self.folder(environment)
    try translated(PrivateFile.makeFolder(folder))
    let real = try translated(TrustedPath(resolving: path)).path
    try translated(
      PrivateFile.replace(real) { descriptor throws(Errno) in
        try DescriptorIO.write(bytes, to: descriptor)
      })
  }

  /// Removes the file if it exists.
  package static func remove(
    suiteName: String, environment: EnvironmentVariables = .process
  ) throws(PreferencesError) {
    let path = try path(suiteName, environment)
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      guard (try? PrivateFile.look(path)) != .some(nil) else { return }
      throw PreferencesError(.inputOutput, "the file cannot be removed: \(path)")
    }
  }

  /// Returns the names of the shared suites, sorted by their bytes.
  package static func suiteNames(
    environment: EnvironmentVariables = .process
  ) throws(PreferencesError) -> [String] {
    let folder = try folder(environment)
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      throw PreferencesError(
        .inputOutput, "the folder \(folder) cannot be read; check its permissions")
    }
    return
      names.filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }
      .map { String($0.dropLast(suffix.count)) }.filter { !$0.isEmpty }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Returns the path of the file of a suite.
  package static func path(
    _ suiteName: String, _ environment: EnvironmentVariables
  ) throws(PreferencesError) -> String {
    // This checks the name, which is a file name here, too.
    _ = try DurablePreferences(suiteName: suiteName, folder: nil, environment: environment)
      .expectedPath()
    return try folder(environment) + "/" + suiteName + suffix
  }

  private static let suffix = ".json"

  private static func folder(
    _ environment: EnvironmentVariables
  ) throws(PreferencesError) -> String {
    try translated(UserFolders("prephirences", environment: environment).configuration())
      + "/shared"
  }
}

extension PreferencesError {
  /// Converts the failure of a call to the server.
  package init(_ error: EtcdError) {
    let suffix = error.mayHaveHappened ? "; the change may have happened" : ""
    self.init(Code(error), error.message + suffix)
  }

  /// The error for a setting of sharing that cannot be used.
  package static func unusable(_ reason: String) -> Self { Self(.invalidAddress, reason) }
}

extension PreferencesError.Code {
  fileprivate init(_ error: EtcdError) {
    self =
      switch error.code {
      case _ where error.mayHaveHappened: .outcomeUnknown
      case .timedOut, .cancelled: .timedOut
      case .tooLarge: .overQuota
      case .compacted: .conflict
      case .forked: .forked
      default: Self(SyncProblem(error).code)
      }
  }
}
