#if ConfigurationSupport
internal import Configuration
internal import PrephirencesConfiguration
internal import PreferencesCore
internal import PreferencesDurable

/// The values of preferences at one moment.
///
/// If references are to be resolved in it, it finds at its creation which of them are the user's
/// own. Unchecked because preference values do not change in place once set.
struct PreferencesSnapshot: ConfigSnapshot, @unchecked Sendable {
  private let provider: PreferencesProvider
  private var values: [[UInt8]: Any] = [:]

  /// Why the values of some keys cannot be read.
  private var failures: [[UInt8]: PreferencesError] = [:]

  /// Why other keys cannot be read.
  private var failure: (any Error)?

  /// The keys whose references are the user's own.
  private var ownReferences: Set<[UInt8]> = []

  init(of provider: PreferencesProvider) {
    self.provider = provider
    do {
      if let durable = (provider.preferences as? any DurablePreferencesType)?.durable {
        let read = try durable.fetchReadablePairs()
        for (key, value) in read.pairs { values[Array(key.utf8)] = value.object }
        for (key, failure) in read.unreadable { failures[Array(key.utf8)] = failure }
        failure = read.otherKeysFailure
      } else {
        for (key, value) in try provider.preferences.fetchedDictionary() {
          values[Array(key.utf8)] = value
        }
      }
      guard let isReference = ReferenceLookup.isReference else { return }
      for (bytes, value) in values {
        guard let text = ConfigContent.text(value), isReference(text) else { continue }
        if try provider.isOwn(text, String(decoding: bytes, as: UTF8.self)) {
          ownReferences.insert(bytes)
        }
      }
    } catch {
      failure = error
    }
  }

  var providerName: String { provider.providerName }

  func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    let name = key.valueName
    let bytes = Array(name.utf8)
    if let failure = failures[bytes] { throw failure }
    if let value = values[bytes] {
      return try provider.result(value, name, type) { _ in ownReferences.contains(bytes) }
    }
    if let failure { throw failure }
    return LookupResult(encodedKey: name, value: nil)
  }
}

extension PreferencesSnapshot: Equatable {
  static func == (one: Self, other: Self) -> Bool {
    one.values.count == other.values.count && one.failures == other.failures
      && one.failure.map { "\($0)" } == other.failure.map { "\($0)" }
      && one.values.allSatisfy { areSame($1, other.values[$0]) }
  }
}

extension PreferencesSnapshot: CustomStringConvertible {
  var description: String { "\(providerName)[\(values.count) values]" }
}

extension PreferencesSnapshot: CustomReflectable {
  /// Shows nothing, because some values may be secret.
  var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
