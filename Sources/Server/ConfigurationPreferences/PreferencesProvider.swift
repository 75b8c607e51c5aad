#if ConfigurationSupport
public import Configuration
internal import PrephirencesConfiguration
// A program needs only `import ConfigurationPreferences` to name its preferences.
@_exported public import PreferencesCore
@_exported public import PreferencesDurable
internal import PrephirencesSystem

/// A configuration provider that reads preferences.
///
/// ```swift
/// let settings = PreferencesProvider(DurablePreferences(suiteName: "com.example.server"))
/// let config = ConfigReader(providers: [EnvironmentVariablesProvider(), settings])
/// let port = config.int(forKey: "http.port", default: 8080)
/// ```
///
/// A key names the preference whose key is its components with full stops between them:
/// `prefs write http.port 9091 --type int --domain com.example.server` sets the one above, also while the
/// program runs. The encoded key of a result is that key. The context of a key is not used.
///
/// The preferences can be `DurablePreferences`, `SharedPreferences`, which are in step on many machines, or any
/// others. Their changes reach watchers when they are made, whoever makes them, without polling and without a
/// signal to the program. The provider caches nothing and needs no service to run in the background.
///
/// Values are converted exactly: 3.7 is no `int`. Text is read as `EnvironmentVariablesProvider` reads it, so
/// `prefs write http.port 9091` sets an integer, too. Numbers, truth values, URLs and UUIDs are also
/// `string`, and data is `bytes`.
///
/// If the preferences report that a value cannot be read, each method throws their error, such as
/// `PreferencesError`; it throws `PreferencesError` with `PreferencesError.Code.typeMismatch` if the value is
/// not of the type. Errors name the key and never the value. The reader of swift-configuration passes errors on
/// from its `fetch` methods and those with `required` in their names only.
public final class PreferencesProvider: ConfigProvider {
  /// The preferences that are read.
  public let preferences: any PreferencesType & Sendable

  /// The name of the provider, with that of the preferences: `PreferencesProvider[com.example.server]`.
  public let providerName: String

  private let secrets: SecretsSpecifier<String, ConfigContent>

  /// Creates a provider.
  ///
  /// - Parameters:
  ///   - preferences: The preferences.
  ///   - name: What tells the provider from others in access logs; by default, the name of the suite.
  ///   - secretsSpecifier: Which values are secret: by their keys, or by keys and converted values. Access logs
  ///     redact them. Preferences are not encrypted; store secrets with `KeychainProvider`.
  public init(
    _ preferences: any PreferencesType & Sendable, name: String? = nil,
    secretsSpecifier: SecretsSpecifier<String, ConfigContent> = .none
  ) {
    self.preferences = preferences
    let suite = (preferences as? any DurablePreferencesType)?.durable.suiteName
    providerName = "PreferencesProvider[\(name ?? suite ?? "\(type(of: preferences))")]"
    secrets = secretsSpecifier
  }

  /// Returns the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  /// - Returns: The value; `nil` if there is none.
  /// - Throws: The error of the preferences, or `PreferencesError` with
  ///   `PreferencesError.Code.typeMismatch`.
  public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    let name = key.valueName
    return try result(try preferences.fetchedObject(forKey: name), name, type) {
      try isOwn($0, name)
    }
  }

  /// Returns the value of a key; the same as ``value(forKey:type:)``, without blocking.
  ///
  /// What other machines change arrives by itself, and is not asked for.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  /// - Returns: The value; `nil` if there is none.
  /// - Throws: As ``value(forKey:type:)``.
  public func fetchValue(
    forKey key: AbsoluteConfigKey, type: ConfigType
  ) async throws -> LookupResult {
    try await onBlockingThread { [self] in try value(forKey: key, type: type) }
  }

  /// Hands out the present value of a key, and then each change.
  ///
  /// If several are made while the handler is busy, it gets the last one. A failure is an element, once until
  /// something else happens.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  ///   - updatesHandler: Gets the values; the sequence ends with its task.
  /// - Returns: What the handler returns.
  /// - Throws: What the handler throws, or the error of the preferences if their changes cannot be noticed.
  public func watchValue<Return: ~Copyable>(
    forKey key: AbsoluteConfigKey, type: ConfigType,
    updatesHandler: (
      ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
    ) async throws -> Return
  ) async throws -> Return {
    try await watching([key.valueName]) { signals in
      let updates = ChangingElements(after: signals) { [self] in
        do {
          let result = try await fetchValue(forKey: key, type: type)
          return (Result<_, any Error>.success(result), ValueMark.value(result))
        } catch {
          return (.failure(error), .failure("\(error)"))
        }
      }
      return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
    }
  }

  /// Returns all values as they are now.
  ///
  /// - Returns: The snapshot, whose methods throw as those of the provider.
  public func snapshot() -> any ConfigSnapshot { PreferencesSnapshot(of: self) }

  /// Hands out the present snapshot, and then one after each change.
  ///
  /// The changes of one transaction are one snapshot.
  ///
  /// - Parameter updatesHandler: Gets the snapshots; the sequence ends with its task.
  /// - Returns: What the handler returns.
  /// - Throws: As ``watchValue(forKey:type:updatesHandler:)``.
  public func watchSnapshot<Return: ~Copyable>(
    updatesHandler: (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
  ) async throws -> Return {
    try await watching(nil) { signals in
      let updates = ChangingElements<any ConfigSnapshot, PreferencesSnapshot>(after: signals) {
        [self] in
        let snapshot = try? await onBlockingThread { PreferencesSnapshot(of: self) }
        return snapshot.map { ($0, $0) }
      }
      return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
    }
  }
}

extension PreferencesProvider: CustomStringConvertible {
  /// The name of the provider.
  public var description: String { providerName }
}

extension PreferencesProvider {
  /// Converts a stored value; `isOwn` tells whether a reference is the user's own.
  func result(
    _ value: Any?, _ name: String, _ type: ConfigType, isOwn: (String) throws -> Bool
  ) throws -> LookupResult {
    guard let value = unwrapped(value) else { return LookupResult(encodedKey: name, value: nil) }
    if let isReference = ReferenceLookup.isReference, let text = ConfigContent.text(value),
      isReference(text), try !isOwn(text)
    {
      throw PreferencesError(
        .insecure,
        "the preference '\(name)' is a reference that is not known to be the user's own, so it is not "
          + "resolved; write it into preferences that only the user can write")
    }
    guard let content = ConfigContent(value, as: type) else {
      throw PreferencesError(
        .typeMismatch,
        "\(providerName): the preference '\(name)' is not a value of the type \(type.rawValue)")
    }
    return LookupResult(
      encodedKey: name,
      value: ConfigValue(content, isSecret: secrets.isSecret(key: name, value: content)))
  }

  /// Whether a text is the user's own, as `OwnValuePreferences` defines.
  func isOwn(_ text: String, _ name: String) throws -> Bool {
    let own = try preferences.ownObject(forKey: name).flatMap(ConfigContent.text)
    // A value that was changed meanwhile is none, too.
    return own?.hasSameBytes(as: text) ?? false
  }

  /// Calls `body` with signals for changes of keys, or of all.
  private func watching<Return: ~Copyable>(
    _ keys: Set<String>?, _ body: (AsyncStream<Void>) async throws -> Return
  ) async throws -> Return {
    let signals = ChangeSignals()
    let observer = PreferenceObserver(keys: keys) { _ in signals.send() }
    // To begin with, the file is read.
    let observation = try await onBlockingThread { [preferences] in
      try (preferences as? any DurablePreferencesType)?.durable.startObserving(observer)
        ?? preferences.addObserver(observer)
    }
    defer {
      observation.cancel()
      signals.end()
    }
    return try await body(signals.stream)
  }
}

/// What tells a value, or a failure, from the one before.
private enum ValueMark: Equatable, Sendable {
  case value(LookupResult)
  case failure(String)
}
#else
// If a program does not enable the trait, the compiler reports it where the name is used.

/// Requires the trait.
@available(
  *, unavailable,
  message: "depend on the package Prephirences with traits: [\"ConfigurationSupport\"]"
)
public struct PreferencesProvider {
  /// Requires the trait.
  public init(_ preferences: Any, name: String? = nil, secretsSpecifier: Any? = nil) {}
}
#endif
