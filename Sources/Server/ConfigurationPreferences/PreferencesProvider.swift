#if ConfigurationSupport
public import Configuration
internal import PrephirencesConfiguration
// With this, a program can name its preferences without another import.
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
/// The key of a preference consists of the components of the configuration's key, joined by full
/// stops: the one above is the preference `http.port`, which can be set while the program runs. The
/// encoded key of a result is that key. The context of a key is not used.
///
/// The preferences can be `DurablePreferences`, `SharedPreferences`, which are in step on many
/// machines, or any others. Changes by any program reach watchers when they are made, without
/// polling and without a signal to the program. The provider caches nothing and needs no service to
/// run in the background.
///
/// Values are converted exactly: 3.7 is not an `int`. Text is read as
/// `EnvironmentVariablesProvider` reads it, so the text `9091` is also an integer. Numbers, truth
/// values, URLs and UUIDs are also `string`, and data is `bytes`.
///
/// If a value cannot be read, each method throws the error of the preferences, such as
/// `PreferencesError`; if the value does not have the type, it throws `PreferencesError` with
/// `PreferencesError.Code.typeMismatch`. Errors name the key and never the value. The reader of
/// swift-configuration passes errors on only from its `fetch` methods and those with `required` in
/// their names.
public final class PreferencesProvider: ConfigProvider {
  /// The preferences that are read.
  public let preferences: any PreferencesType & Sendable

  /// The name of the provider, with that of the preferences:
  /// `PreferencesProvider[com.example.server]`.
  public let providerName: String

  private let secrets: SecretsSpecifier<String, ConfigContent>

  /// Creates a provider.
  ///
  /// - Parameters:
  ///   - name: The name of the provider in access logs; by default, the name of the suite.
  ///   - secretsSpecifier: Which values are secret: by their keys, or by keys and converted values.
  ///     Access logs redact them. Preferences are not encrypted; store secrets with
  ///     `KeychainProvider`.
  public init(
    _ preferences: any PreferencesType & Sendable, name: String? = nil,
    secretsSpecifier: SecretsSpecifier<String, ConfigContent> = .none
  ) {
    self.preferences = preferences
    let suite = (preferences as? any DurablePreferencesType)?.durable.suiteName
    providerName = "PreferencesProvider[\(name ?? suite ?? "\(type(of: preferences))")]"
    secrets = secretsSpecifier
  }

  /// Returns the value of a key; `nil` if there is none.
  ///
  /// - Throws: The error of the preferences, or `PreferencesError` with
  ///   `PreferencesError.Code.typeMismatch`.
  public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    let name = key.valueName
    return try result(try preferences.fetchedObject(forKey: name), name, type) {
      try isOwn($0, name)
    }
  }

  /// Returns the value of a key as ``value(forKey:type:)`` does, without blocking.
  ///
  /// Changes by other machines arrive by themselves; the call does not fetch them.
  ///
  /// - Throws: As ``value(forKey:type:)``.
  public func fetchValue(
    forKey key: AbsoluteConfigKey, type: ConfigType
  ) async throws -> LookupResult {
    try await onBlockingThread { [self] in try value(forKey: key, type: type) }
  }

  /// Passes the present value of a key to a handler, and then each change.
  ///
  /// If several changes are made while the handler is busy, it gets the last one. A failure is one
  /// element until something else happens. The sequence ends with the handler's task.
  ///
  /// - Throws: What the handler throws, or the error of the preferences if their changes cannot be
  ///   noticed.
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

  /// Returns all present values; the methods of the snapshot throw as those of the provider.
  public func snapshot() -> any ConfigSnapshot { PreferencesSnapshot(of: self) }

  /// Passes the present snapshot to a handler, and then one after each change.
  ///
  /// The changes of one transaction are one snapshot.
  ///
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
  /// Converts a stored value; `isOwn` returns whether a reference is the user's own.
  func result(
    _ value: Any?, _ name: String, _ type: ConfigType, isOwn: (String) throws -> Bool
  ) throws -> LookupResult {
    guard let value = unwrapped(value) else { return LookupResult(encodedKey: name, value: nil) }
    if let isReference = ReferenceLookup.isReference, let text = ConfigContent.text(value),
      isReference(text), try !isOwn(text)
    {
      throw PreferencesError(
        .insecure,
        "the preference '\(name)' is a reference that is not known to be the user's own, so it is "
          + "not resolved; write it into preferences that only the user can write")
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
    // A value that was changed meanwhile is not the user's own either.
    return own?.hasSameBytes(as: text) ?? false
  }

  /// Calls `body` with signals for changes of one key or of all.
  private func watching<Return: ~Copyable>(
    _ keys: Set<String>?, _ body: (AsyncStream<Void>) async throws -> Return
  ) async throws -> Return {
    let signals = ChangeStream()
    let observer = PreferenceObserver(keys: keys) { _ in signals.send() }
    // Beginning an observation reads the file.
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

/// Distinguishes a value, or a failure, from the one before.
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
