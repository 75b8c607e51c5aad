internal import PreferencesCore
internal import PrephirencesCommandLine

// The failures of the commands for shared suites.
extension CommandLineError {
  static func revisionUnknown(_ revision: Int64, _ store: String, _ command: String) -> Self {
    Self(
      ExitCodes.notFound, "revision \(revision) has changed nothing in the store '\(store)'",
      hint: "'\(command)' lists those that have")
  }

  static func revisionCompacted(_ revision: Int64) -> Self {
    Self(
      ExitCodes.notFound,
      "etcd has compacted what was there before revision \(revision), so it is not known what to go "
        + "back to; nothing was changed", hint: "write the values again, as a change")
  }

  static func changedSince(_ changes: [String], _ command: String) -> Self {
    Self(
      ExitCodes.tryAgain,
      "changed again since: \(changes.joined(separator: ", ")); nothing was changed",
      hint: "'\(command)' shows it")
  }

  static func noMachine(_ name: String, _ path: String) -> Self {
    Self(
      ExitCodes.notFound, "no machine has the name or tag '\(name)'",
      hint: "'\(path) machines' lists them")
  }

  static func severalMachines(_ name: String, _ tags: [String]) -> Self {
    Self(
      ExitCodes.ambiguous,
      "\(tags.count) machines have the name or tag '\(name)'; nothing was changed",
      hint: "name one by its tag: \(tags.joined(separator: ", "))")
  }

  static func sharedElsewhere(_ suite: String, _ address: String) -> Self {
    Self(
      ExitCodes.tryAgain, "the preferences '\(suite)' are shared at \(address)",
      hint: "add --overwrite to share them elsewhere instead")
  }

  static func unsentWouldBeLost(
    _ suite: String, _ count: Int, _ path: String, isReadOnly: Bool
  ) -> Self {
    let sending =
      isReadOnly ? "this user may only read, so nothing is sent" : "'\(path) now' sends them"
    return Self(
      ExitCodes.refused,
      "\(Words.counted(count, "key")) of '\(suite)' \(Words.are(count)) not sent yet; nothing was "
        + "changed",
      hint: "\(sending); --yes keeps them on this machine alone")
  }
}

extension PreferencesError {
  /// The same failure, with the name of the suite, for a command that works on several.
  func naming(suite: String) -> Self {
    Self(code, "'\(suite)': \(message)", systemCode: systemCode)
  }
}
