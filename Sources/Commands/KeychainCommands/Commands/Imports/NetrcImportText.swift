internal import KeychainCredentials
internal import KeychainHelpers
internal import PrephirencesCommandLine
internal import PrephirencesSystem

enum NetrcImportText {
  static func isOpenToOthers(_ path: String) -> String {
    "other users can read '\(path)': consider its passwords known to them"
  }

  static func close(_ path: String) -> String {
    "run 'chmod 600 \(ShellText.quoted(path))', and renew the passwords"
  }

  static func summary(_ report: borrowing NetrcImport, isDryRun: Bool) -> String {
    let differing = report.items(.differing).count
    let same = report.items(.same).count
    let parts = [
      differing == 0 ? nil : "\(differing) \(report.isOverwriting ? "overwritten" : "left alone")",
      same == 0 ? nil : "\(same) there already, unchanged",
    ].compactMap(\.self)
    let verb = isDryRun ? "would import" : "imported"
    return (["\(verb) \(Words.items(report.items(.absent).count))"] + parts).joined(separator: "; ")
  }

  /// Reports how many entries stay in the file, and why.
  static func left(_ obstacle: NetrcImportPlan.Obstacle, _ entries: [NetrcEntry]) -> String {
    let names = entries.map { entry in
      if case .machine(let host) = entry.subject {
        "\(host) (line \(entry.line))"
      } else {
        "line \(entry.line)"
      }
    }
    return "not taken: \(Words.counted(entries.count, "entr", "y", "ies")), "
      + "\(words(for: obstacle)): \(names.joined(separator: ", "))"
  }

  private static func words(for obstacle: NetrcImportPlan.Obstacle) -> String {
    switch obstacle {
    case .isDefault: "for all hosts"
    case .hasMacro: "with a macro of ftp"
    case .hasAccount: "with a second password, of ftp"
    case .hasNoLogin: "without a login"
    case .hasNoPassword: "without a password"
    case .hasSecretLogin: "whose login is a token, and logins are shown as names"
    case .hasNoHost: "whose host is not a host name"
    case .hasUnknownWord: "with a word that netrc does not have"
    case .isUnclear: "with a value that programs read differently"
    case .conflicts: "with several passwords for one account"
    }
  }

  static func repeated(_ host: String) -> String {
    "'\(host)' has several accounts: curl uses the first, Python and SwiftPM the last; name one as "
      + "ACCOUNT@\(host)"
  }

  static func question(_ count: Int, _ path: String) -> String {
    "remove \(count == 1 ? "the entry that is" : "the \(count) entries that are") stored now from "
      + "'\(path)'? [y/N] "
  }

  static func stays(_ count: Int, _ path: String) -> String {
    "\(Words.counted(count, "entr", "y", "ies")) that \(count == 1 ? "is" : "are") stored now "
      + "\(count == 1 ? "stays" : "stay") in '\(path)'"
  }

  static let removeThem = "--remove removes them from the file"

  /// What precedes the error of a failed removal.
  static func mayStay(_ path: String) -> String {
    "the passwords are stored, and may still be in '\(path)'"
  }

  static func removed(_ count: Int, _ path: String, isFileRemoved: Bool) -> String {
    let entries = Words.counted(count, "entr", "y", "ies")
    return isFileRemoved
      ? "removed '\(path)', which had nothing else" : "removed \(entries) from '\(path)'"
  }

  static func wouldRemove(_ count: Int, _ path: String) -> String {
    "would remove \(Words.counted(count, "entr", "y", "ies")) from '\(path)'"
  }

  static let onInput = "name the netrc file, or redirect it to standard input"
}

extension Words {
  /// `1 entry`, `2 entries`.
  fileprivate static func counted(
    _ count: Int, _ stem: String, _ one: String, _ several: String
  ) -> String { "\(count) \(stem)\(count == 1 ? one : several)" }
}

extension KeychainError {
  static func netrcTooLarge(_ path: String) -> Self {
    Self(
      .tooLarge, "'\(path)' has more than \(NetrcFile.maximumCount >> 20) MiB",
      recovery: "name a netrc file")
  }

  static func netrcIsNoFile(_ path: String) -> Self {
    Self(
      .refused, "'\(path)' is not a regular file",
      recovery: "name the netrc file, or redirect it to standard input")
  }

  static func netrcOfOther(_ path: String) -> Self {
    Self(
      .refused, "'\(path)' belongs to another user, and was not changed",
      recovery: "let its owner remove the entries")
  }

  static func netrcHasOtherNames(_ path: String) -> Self {
    Self(
      .refused, "'\(path)' has other names (hard links), and was not changed",
      recovery: "remove the others, or the entries by hand")
  }

  static func netrcStaysCancelled(_ path: String) -> Self {
    Self(
      .cancelled, "cancelled; the passwords are stored, and '\(path)' was not changed",
      recovery: .advice(NetrcImportText.removeThem))
  }

  static func netrcChanged(_ path: String) -> Self {
    Self(
      .busy, "another program changed '\(path)' meanwhile, so nothing was removed from it",
      recovery: "import again")
  }
}

extension NetrcImport {
  /// The result in JSON: the entries that were not imported, by reason, and the number of entries
  /// that were or would be removed from the file.
  borrowing func json(isDryRun: Bool, removedCount: Int) -> JSONValue {
    let differing = items(.differing).map(\.identity)
    let notTaken = Dictionary(plan.left.map { ($0.obstacle.rawValue, 1) }, uniquingKeysWith: +)
    return .members([
      ("dryRun", isDryRun), ("added", items(.absent).count), ("unchanged", items(.same).count),
      ("overwritten", isOverwriting ? differing.count : 0),
      ("leftAlone", isOverwriting ? 0 : differing.count), ("notTaken", notTaken),
      ("differing", differing), ("removedEntries", removedCount),
    ])
  }
}
