#if ConfigurationSupport
import Configuration
import ConfigurationKeychain
import Foundation
import KeychainVaultTesting
import Synchronization
import Testing

/// What opens a vault in a test: it can refuse, or take its time.
final class Opener: Sendable {
  enum Behaviour: Sendable {
    case opens, refuses, isSlow, refusesSlowly
  }

  private let behaviour = Mutex(Behaviour.opens)
  private let count = Mutex(0)

  /// How often the passphrase was asked for.
  var askedCount: Int { count.withLock { $0 } }

  func set(_ new: Behaviour) { behaviour.withLock { $0 = new } }

  /// Returns a handle of a vault whose items need the passphrase.
  func handle(of vault: TestVault) -> Vault {
    vault.handle { configuration in
      configuration.unlock = .passphrase(named: "the test") { [self] () throws(KeychainError) in
        count.withLock { $0 += 1 }
        switch behaviour.withLock({ $0 }) {
        case .opens: break
        case .isSlow: Thread.sleep(forTimeInterval: 0.4)
        case .refuses: throw KeychainError(.locked, "nobody gives the passphrase")
        case .refusesSlowly:
          Thread.sleep(forTimeInterval: 0.4)
          throw KeychainError(.locked, "nobody gives the passphrase")
        }
        return try SecretBytes(copying: TestVault.passphrase)
      }
    }
  }
}

/// Values that a watcher gets, and for which a test waits.
final class Watched<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])

  var all: [Value] { values.withLock { $0 } }

  func append(_ value: Value) { values.withLock { $0.append(value) } }

  /// Waits until the values fulfil a condition.
  func wait(
    _ isDone: @Sendable ([Value]) -> Bool, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let end = ContinuousClock.now + .seconds(20)
    while !isDone(all) {
      guard .now < end else {
        Issue.record("not in time: \(all)", sourceLocation: sourceLocation)
        throw CancellationError()
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}

extension ConfigProvider {
  /// Runs `body` while the values of a key are watched, as text: `nil` or the word of an error in brackets.
  func watching<Result>(
    _ key: AbsoluteConfigKey, as type: ConfigType = .string,
    _ body: (Watched<String>) async throws -> Result
  ) async throws -> Result {
    let watched = Watched<String>()
    let task = Task {
      try await watchValue(forKey: key, type: type) { updates in
        for await update in updates { watched.append(told(update)) }
      }
    }
    let result = try await body(watched)
    task.cancel()
    try await task.value
    return result
  }
}

/// Returns a result as text.
func told(_ result: Result<LookupResult, any Error>) -> String {
  switch result {
  case .success(let found):
    switch found.value?.content {
    case nil: "nil"
    case .string(let text): text
    case let content?: "\(content)"
    }
  case .failure(let error as KeychainError): "[\(error.code)]"
  case .failure(let error as PreferencesError): "[\(error.code)]"
  case .failure(let error): "[\(error)]"
  }
}

/// What an access reporter is told, as access logs print it.
final class Reports: AccessReporter {
  private let texts = Mutex<[String]>([])

  var all: [String] { texts.withLock { $0 } }

  func report(_ event: AccessEvent) { texts.withLock { $0.append("\(event)") } }
}

/// The text that `dump` prints of a value.
func dumped(_ value: Any) -> String {
  var text = ""
  dump(value, to: &text)
  return text
}

/// The values that `ProviderCompatTest` asks for, as text.
let compatibleTexts = [
  "string": "Hello", "other.string": "Other Hello", "int": "42", "other.int": "24",
  "double": "3.14", "other.double": "2.72", "bool": "true", "other.bool": "false",
  "stringy.array": "Hello,World", "other.stringy.array": "Hello, Swift", "inty.array": "42,24",
  "other.inty.array": "16, 32", "doubly.array": "3.14,2.72", "other.doubly.array": "0.9,1.8",
  "booly.array": "true,false", "other.booly.array": "false,TRUE,yes",
  "byteChunky.array": "bWFnaWM=,bWFnaWMy", "other.byteChunky.array": "bWFnaWM=,bWFnaWMy,bWFnaWM=",
]
#endif
