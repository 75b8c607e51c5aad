internal import KeychainCredentials
internal import KeychainSecrets

extension KeychainError {
  /// Whether the error concerns one credential, so that the next one can still be copied.
  var concernsOneCredential: Bool {
    let codes: Set<Code> = [
      .refused, .tooLarge, .invalidArgument, .damaged, .otherDevice, .alreadyExists, .ambiguous,
      .unsupportedFormat,
    ]
    return codes.contains(code)
  }

  static func boundToDevice(_ credential: Credential) -> Self {
    Self(
      .refused,
      "\(credential.identity) is \(credential.accessibility), and must not leave the machine",
      recovery: "leave it, or give it another accessibility with \(.update)")
  }

  static func differs(_ found: Credential) -> Self {
    Self(
      .alreadyExists,
      found.isOfOtherProgram
        ? "another program has a different \(found.identity) in the target"
        : "the target has a different \(found.identity)",
      recovery: "remove the one that is out of date, or overwrite that of the target")
  }

  static func isOutOfDate(_ found: Credential) -> Self {
    Self(
      .refused, "the target has a newer \(found.identity), which programs use",
      recovery: "remove the older one from the source with \(.delete) and \(.nameStore)")
  }

  static func wasRemoved(_ credential: Credential) -> Self {
    Self(
      .refused,
      "\(credential.identity) stays in the source: its service uses the target already, and the item "
        + "may have been deleted there",
      recovery:
        "delete it from the source, too, with \(.delete) and \(.nameStore), or copy it "
        + "with \(.overwrite)")
  }

  static func wasDeleted(_ copy: Credential) -> Self {
    Self(
      .refused,
      "\(copy.identity) is in the target, where an earlier run copied it, and is gone from the source "
        + "since: it may have been deleted there",
      recovery:
        "delete it from the target, too, with \(.delete) and \(.nameStore), or keep it "
        + "with \(.overwrite)")
  }

  static func cameLate(_ credential: Credential) -> Self {
    Self(
      .versionConflict,
      "\(credential.identity) was written to the source when its service had left it",
      recovery: "compare it with the one of the target, and remove what is out of date with "
        + "\(.delete) and \(.nameStore)")
  }

  static func cameBackChanged(_ identity: CredentialIdentity) -> Self {
    Self(
      .damaged, "\(identity) did not come back from the target as it was stored",
      recovery: "leave it where it is")
  }

  static func locked(_ count: Int, in place: String) -> Self {
    Self(
      .locked,
      "\(count) \(count == 1 ? "item" : "items") of the \(place) cannot be read while it is locked",
      recovery: "unlock it: the vault with \(.unlock), the keyring at the desktop")
  }

  static let keepsChanging = KeychainError(
    .busy, "other programs keep changing the credentials that are to be moved",
    recovery: "try again when they are done; what was copied is kept")
}

extension CredentialIdentity {
  /// The identity of the credential's service or server, without account and other names.
  var service: CredentialIdentity {
    switch kind {
    case .genericPassword(let service, _): .genericPassword(service: service, account: "")
    case .internetPassword(let password):
      CredentialIdentity(.internetPassword(InternetPassword(server: password.server, account: "")))
    }
  }
}

extension StoredSecret {
  /// Whether two credentials have the same secret and content.
  borrowing func isSame(as other: borrowing StoredSecret) -> Bool {
    credential.hasSameContent(as: other.credential) && secret.isEqual(to: other.secret)
  }
}

extension Credential {
  /// Whether everything is the same except what stores set: dates and version.
  func hasSameContent(as other: Credential) -> Bool {
    identity == other.identity && accessibility == other.accessibility
      && expires?.microseconds == other.expires?.microseconds && attributes == other.attributes
      && texts.elementsEqual(other.texts)
  }

  /// The texts as bytes.
  private var texts: [[UInt8]?] { [label, comment, contentType].map { $0.map { Array($0.utf8) } } }
}
