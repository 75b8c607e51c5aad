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
  private let neighbour: ((String) -> any MutablePreferencesType)?

  /// Describes a domain.
  ///
  /// - Parameters:
  ///   - name: The name of the domain; `nil` if it has none.
  ///   - neighbour: Returns another domain by its name; by default those of `UserDefaults`.
  package init(
    name: String? = nil, neighbour: ((String) -> any MutablePreferencesType)? = nil
  ) {
    self.name = name
    self.neighbour = neighbour
  }

  func suite(_ name: String) -> any PreferencesType {
    neighbour?(name) ?? UserDefaults(suiteName: name) ?? UserDefaults.standard
  }

  /// Returns another domain; `nil` if it is one of `UserDefaults`.
  func backedNeighbour(_ name: String) -> BackedUserDefaults? {
    guard name != UserDefaults.globalDomain else { return nil }
    return neighbour.map { BackedUserDefaults(preferences: $0(name)) }
  }
}
