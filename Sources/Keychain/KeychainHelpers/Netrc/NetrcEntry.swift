/// An entry of a netrc file, without its password, or the definition of a macro.
///
/// It belongs to the ``NetrcFile`` that it was read from.
public struct NetrcEntry: Sendable {
  /// What an entry is for.
  public enum Subject: Sendable {
    /// The host of this name, as it is written.
    case machine(String)

    /// All hosts that have no entry.
    case `default`

    /// A macro of ftp.
    case macro
  }

  /// What it is for.
  public internal(set) var subject: Subject

  /// The account, or `nil`.
  ///
  /// Some services expect a token in its place.
  public internal(set) var login: String?

  /// Whether it has a password for ftp's command `ACCT`.
  public internal(set) var hasAccount = false

  /// The line on which it begins, counted from 1.
  public let line: Int

  /// Whether there is a password.
  public var hasPassword: Bool { password != nil }

  /// The words of the password.
  var password: NetrcWord?

  /// Whether a value of it is read differently by different programs.
  var isUnclear = false

  /// Where its words are, without comments between them.
  var pieces: [Range<Int>]

  init(_ subject: Subject, at word: NetrcWord) {
    self.subject = subject
    line = word.line
    pieces = [word.range]
  }

  /// Adds a word to it.
  mutating func extend(by word: NetrcWord) {
    if word.followsComment {
      pieces.append(word.range)
    } else if let last = pieces.popLast() {
      pieces.append(last.lowerBound..<word.range.upperBound)
    }
  }
}
