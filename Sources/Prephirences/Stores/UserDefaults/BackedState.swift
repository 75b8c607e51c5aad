internal import Foundation

/// What a ``BackedUserDefaults`` keeps next to its preferences.
struct BackedState {
  private(set) var suites: [(name: String, preferences: any PreferencesType)] = []
  var arguments: PreferencesDictionary = [:]
  var failure: PreferencesError?
  var observation: PreferenceObservation?

  /// The keys that are being written here, so that their changes are not reported twice.
  private var written: [PreferenceKey: Int] = [:]

  mutating func add(_ suite: any PreferencesType, named name: String) {
    if !suites.contains(where: { $0.name == name }) { suites.append((name, suite)) }
  }

  mutating func removeSuite(named name: String) { suites.removeAll { $0.name == name } }

  mutating func beginWriting(_ keys: [PreferenceKey]) {
    for key in keys { written[key, default: 0] += 1 }
  }

  mutating func endWriting(_ keys: [PreferenceKey]) {
    for key in keys {
      let count = written[key, default: 1] - 1
      written[key] = count == 0 ? nil : count
    }
  }

  func isWriting(_ key: PreferenceKey) -> Bool { written[key] != nil }
}

/// The persistent domain that the preferences of a ``BackedUserDefaults`` are, and its neighbours.
package struct BackedDomain {
  let name: String?
  let suite: (String) -> any PreferencesType

  /// Describes a domain.
  ///
  /// - Parameters:
  ///   - name: The name of the domain; `nil` if it has none.
  ///   - suite: Returns another domain by its name; by default those of `UserDefaults`.
  package init(
    name: String? = nil,
    suite: @escaping (String) -> any PreferencesType = {
      UserDefaults(suiteName: $0) ?? UserDefaults.standard
    }
  ) {
    self.name = name
    self.suite = suite
  }
}
