internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesDurable
internal import PrephirencesShared

/// What a machine finds before it shares a suite.
struct FirstContact {
  private let suite: SharedSuite

  init(_ suite: SharedSuite) { self.suite = suite }

  /// Tries the connection, and reports what the first contact will do.
  ///
  /// - Parameters:
  ///   - session: Where it is reported.
  ///   - isAdopted: Whether another store than the known one is taken.
  /// - Throws: The failure to read the store, or the preferences of this machine.
  func report(to session: SharingSession, isAdopted: Bool = false) throws {
    let direct = try suite.direct()
    let theirs = Dictionary(try direct.fetchPairs().map(Self.entry)) { $1 }
    if direct.isWithoutAuthentication == true {
      session.interface.say(
        "this cluster asks nobody for a password: whoever reaches it reads and changes everything")
    }
    let found = "the store '\(suite.store)' has \(Words.counted(theirs.count, "key"))"
    if !isAdopted, try suite.replica.isShared(),
      let known = try suite.replica.state().identity
    {
      let isKnown = try direct.identity() == known
      return session.interface.say(
        isKnown
          ? found
          : "\(found); it is another one than this machine was in step with: nothing will be sent or "
            + "come before '\(session.path) adopt \(ShellText.quoted(suite.name))'")
    }
    let ours = try values()
    let both = ours.keys.filter { theirs[$0] != nil }
    let differing = both.count { ours[$0]?.isSame(as: theirs[$0]) == false }
    var parts: [String] = []
    if ours.count > both.count {
      parts.append("\(Words.counted(ours.count - both.count, "key")) will be sent")
    }
    if theirs.count > both.count {
      parts.append("\(Words.counted(theirs.count - both.count, "key")) will come")
    }
    if differing > 0 {
      let decides = suite.configuration.programDecides == true
      parts.append(
        "\(Words.counted(differing, "key")) with two values "
          + (decides ? "will wait for a program's decision" : "will get those of the store"))
    }
    session.interface.say(([found] + parts).joined(separator: "; "))
  }

  private func values() throws -> [[UInt8]: StoredValue?] {
    let preferences = DurablePreferences(suiteName: suite.name)
    guard try preferences.storedPath() != nil else { return [:] }
    return Dictionary(try preferences.fetchPairs().map(Self.entry)) { $1 }
  }

  private static func entry(_ key: String, _ value: Any) -> ([UInt8], StoredValue?) {
    (Array(key.utf8), StoredValue(value))
  }
}

extension StoredValue? {
  fileprivate func isSame(as other: StoredValue??) -> Bool {
    guard let self, let other = other ?? nil else { return false }
    return self.isSame(as: other)
  }
}
