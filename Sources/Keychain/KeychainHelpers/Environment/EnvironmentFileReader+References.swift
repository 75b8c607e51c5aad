internal import KeychainCredentials
internal import PrephirencesSystem

extension EnvironmentFileReader {
  /// Returns what the value of a line stands for.
  func meaning(
    of value: ArraySlice<UInt8>, at line: Int
  ) throws(KeychainError) -> EnvironmentPlan.Value {
    let text = String(decoding: value, as: UTF8.self)
    guard CredentialReference.isReference(text) else {
      guard !Self.hasReference(text) else { throw referenceWithinText(at: line) }
      return .text(text)
    }
    do throws(KeychainError) {
      return .reference(try CredentialReference(text))
    } catch {
      throw error.located("'\(name)', line \(line)")
    }
  }

  /// Whether a longer text has what begins a reference, which the program would get as it is.
  private static func hasReference(_ text: String) -> Bool {
    let text = text.foldingASCIICase
    return ["keychain://", "keychain+http://", "keychain+https://"].contains {
      text.utf8.firstRange(of: $0.utf8) != nil
    }
  }

  private func referenceWithinText(at line: Int) -> KeychainError {
    KeychainError(
      .undecodable, "'\(name)', line \(line): a reference is the whole value, not a part of it",
      recovery: "store the whole value, such as a URL with its password, as one credential")
  }
}
