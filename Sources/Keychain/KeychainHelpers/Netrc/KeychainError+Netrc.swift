internal import KeychainCredentials
internal import PrephirencesSystem

// Selections and what they find.
extension KeychainError {
  // The text is not repeated, because it may have a password.
  static let invalidNetrcSelection = Self(
    .invalidArgument, "a selection for a netrc file names no host",
    recovery: "write [ACCOUNT@]HOST[:PORT], without a protocol, a password and a path")

  static let invalidNetrcAccount = Self(
    .invalidArgument, "a selection for a netrc file has something else than an account before @",
    recovery: "write [ACCOUNT@]HOST[:PORT], without a password, and : in an account as %3A")

  static func repeatedInNetrc(_ host: String) -> Self {
    Self(
      .invalidArgument, "'\(host)' is selected twice, and a netrc file has one entry for a host",
      recovery: "leave one of them out, or run the program once for each")
  }

  static func nothingForNetrc(_ selection: NetrcSelection) -> Self {
    let account = selection.account.map { "'\($0)' " } ?? ""
    let port = selection.port.map { ", port \($0)" } ?? ""
    return Self(
      .notFound, "there is no internet password \(account)of server '\(selection.host)'\(port)",
      recovery: "store one for this server\(port), with the protocol https"
        + (selection.port == nil
          ? "; if it is stored with a port, name \(selection.address("PORT"))" : ""))
  }

  static func ambiguousForNetrc(
    _ selection: NetrcSelection, _ identities: [CredentialIdentity]
  ) -> Self {
    let names = identities.map(\.description).joined(separator: "; ")
    let first = identities.first?.account ?? ""
    let differByAccount = !identities.allSatisfy { $0.account.hasSameBytes(as: first) }
    return Self(
      .ambiguous, "\(identities.count) passwords match '\(selection)': \(names)",
      recovery: differByAccount
        ? "choose one by its account: ACCOUNT@\(selection.address)"
        : "a netrc file knows hosts only; remove the others, or hand this one over by its reference"
    )
  }

  static func expiredForNetrc(_ identity: CredentialIdentity) -> Self {
    Self(.expired, "\(identity) has expired", recovery: "store a new password")
  }
}

// What cannot be written.
extension KeychainError {
  static func noLoginForNetrc(_ host: String) -> Self {
    Self(
      .refused, "the password of '\(host)' has no account, which a netrc file needs",
      recovery: "store it with an account; for a token of SwiftPM, with the account 'token'")
  }

  static func unwritableInNetrc(_ part: String, host: String, _ reason: String) -> Self {
    Self(
      .refused, "the \(part) of '\(host)' \(reason), and programs read that differently in netrc",
      recovery: "choose another \(part), or hand it over in another way")
  }
}

// What cannot be read.
extension KeychainError {
  static func unreadableNetrc(_ line: Int, _ reason: String) -> Self {
    Self(
      .undecodable, "line \(line) of the netrc file \(reason)",
      recovery: "correct the line, or leave it out")
  }
}
