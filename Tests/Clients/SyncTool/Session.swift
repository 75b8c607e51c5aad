internal import Foundation
internal import Prephirences

/// The commands of a process on one suite.
final class Session {
  struct UsageError: Error {}

  let store: Store
  private var observations: [PreferenceObservation] = []

  init(_ store: Store) { self.store = store }

  /// Performs a command.
  ///
  /// - Returns: The fields of the answer.
  func answer(_ words: [Any]) -> [String: Any] {
    do {
      return try perform(words.first as? String ?? "", Array(words.dropFirst()))
    } catch {
      return described(error)
    }
  }

  private func perform(_ command: String, _ words: [Any]) throws -> [String: Any] {
    switch command {
    case "set": try store.preferences.storeObject(value(words, 1), forKey: key(words))
    case "remove": try store.preferences.storeObject(nil, forKey: key(words))
    case "get": return ["value": plain(try store.preferences.fetchObject(forKey: key(words)))]
    case "set-all": try store.preferences.storeObjects(changes(words))
    case "swap": return ["before": try swap(changes(words))]
    case "clear": try store.preferences.removeAllObjects()
    case "dictionary": return ["values": try store.preferences.fetchDictionary()]
    case "count": return ["count": try store.preferences.fetchDictionary().count]
    case "timed-set":
      let before = now()
      try store.preferences.storeObject(value(words, 1), forKey: key(words))
      return ["time": before]
    case "fill": try fill(words)
    case "sets": try sets(words)
    case "observe": observe()
    case "memory": return ["kilobytes": memory()]
    default: return try store.performShared(command, words)
    }
    return ["done": true]
  }

  private func key(_ words: [Any]) throws -> String {
    guard let key = words.first as? String else { throw UsageError() }
    return key
  }

  /// `{"bytes": N}` stands for N bytes.
  private func value(_ words: [Any], _ index: Int) throws -> PreferenceObject {
    guard words.indices.contains(index) else { throw UsageError() }
    if let count = (words[index] as? [String: Any])?["bytes"] as? Int {
      return Data(repeating: 7, count: count)
    }
    return words[index]
  }

  private func changes(_ words: [Any]) throws -> [(key: PreferenceKey, value: PreferenceObject?)] {
    guard let values = words.first as? [String: Any] else { throw UsageError() }
    return values.sorted { $0.key < $1.key }.map { ($0.key, $0.value is NSNull ? nil : $0.value) }
  }

  /// Changes keys in one transaction, and returns what they had before.
  private func swap(
    _ changes: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws -> [String: Any] {
    var before: [String: Any] = [:]
    try store.transaction {
      for (key, value) in changes {
        before[key] = plain(try store.preferences.fetchObject(forKey: key))
        try store.preferences.storeObject(value, forKey: key)
      }
    }
    return before
  }

  /// Sets many keys at once: a prefix and a number.
  private func fill(_ words: [Any]) throws {
    guard words.count == 2, let count = words[1] as? Int else { throw UsageError() }
    let prefix = try key(words)
    let values = (0..<count).map { ("\(prefix)\($0)", "value \($0)") }
    store.preferences.set(dictionary: Dictionary(uniqueKeysWithValues: values))
    if let error = store.lastError { throw error }
  }

  /// Sets keys in turn to values that are never repeated, and reports each: the process may be
  /// killed at any time.
  private func sets(_ words: [Any]) throws {
    guard words.count == 3, let keys = words[1] as? Int, let count = words[2] as? Int else {
      throw UsageError()
    }
    let prefix = try key(words)
    for number in 0..<count {
      let key = "\(prefix)\(number % keys)"
      try store.preferences.storeObject("\(prefix)-\(getpid())-\(number)", forKey: key)
      report(["event": "set", "key": key, "value": "\(prefix)-\(getpid())-\(number)"])
    }
  }

  private func observe() {
    observations.append(
      store.addObserver(
        PreferenceObserver(keys: nil) { change in
          report([
            "event": "change", "key": change.key, "value": plain(change.newValue), "time": now(),
          ])
        }))
    store.observeShared()
  }

  /// Returns the memory of this process alone, in kilobytes, and that of its pages of files.
  private func memory() -> [Int] {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    return ["RssAnon:", "RssFile:"].map { name in
      let line = text.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
      return line.split(separator: " ").compactMap { Int($0) }.first
        ?? line.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first ?? 0
    }
  }
}
