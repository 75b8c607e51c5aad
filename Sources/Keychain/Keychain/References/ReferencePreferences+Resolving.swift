internal import KeychainCredentials
internal import KeychainSecrets
internal import Prephirences

extension ReferencePreferences {
  func isDeclared(_ key: PreferenceKey) -> Bool { declaredKeys.contains { $0.hasBytes(of: key) } }

  /// Returns what the value of a key refers to; `nil` if it is not to be resolved.
  func resolved(_ key: PreferenceKey) throws -> SecretBytes? {
    guard isDeclared(key) else { return nil }
    // First, since combined preferences may report a failure only here.
    let own = try preferences.ownObject(forKey: key) as? String
    guard let text = try preferences.fetchedObject(forKey: key) as? String,
      CredentialReference.isReference(text)
    else { return nil }
    // A value that was changed meanwhile is refused, too.
    guard let own, own.hasBytes(of: text) else {
      throw KeychainError.referenceFromElsewhere(key)
    }
    return try resolver.resolve(try reference(text, of: key))
  }

  private func reference(
    _ text: String, of key: PreferenceKey
  ) throws(KeychainError) -> CredentialReference {
    let reference: CredentialReference
    do throws(KeychainError) {
      reference = try CredentialReference(text)
    } catch {
      throw KeychainError(
        error.code, "the value of '\(key)': \(error.message)", recovery: error.recovery)
    }
    let service = resolver.defaultService
    guard declaredServices.contains(where: { reference.belongs(to: $0, defaultService: service) })
    else { throw .undeclaredService(reference.serviceName(default: service), of: key) }
    guard declaredAccessGroups.contains(where: { $0.hasBytes(of: reference.accessGroup) }) else {
      throw .undeclaredGroup(reference.accessGroup, of: key)
    }
    return reference
  }

  /// Checks that a value may be written.
  func checkWriting(_ value: PreferenceObject?, _ key: PreferenceKey) throws(KeychainError) {
    guard isDeclared(key), let value = unwrapped(value) else { return }
    guard let text = value as? String, CredentialReference.isReference(text) else {
      throw KeychainError(
        .refused, "'\(key)' takes references only, so that no secret gets into the preferences",
        recovery: "change the credential that it refers to, or write another reference")
    }
    _ = try reference(text, of: key)
  }
}

extension String {
  func hasBytes(of other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension KeychainError {
  fileprivate static func referenceFromElsewhere(_ key: PreferenceKey) -> Self {
    Self(
      .refused,
      "the value of '\(key)' is a reference that is not known to be the user's own, so it is not "
        + "resolved",
      recovery: "write it into preferences that only the user can write")
  }

  fileprivate static func undeclaredService(_ service: String, of key: PreferenceKey) -> Self {
    Self(
      .refused,
      "the value of '\(key)' refers to '\(service)', which the program has not declared",
      recovery: "refer to a credential of the program's own service")
  }

  fileprivate static func undeclaredGroup(_ group: String, of key: PreferenceKey) -> Self {
    Self(
      .refused,
      "the value of '\(key)' refers to the access group '\(group)', which the program has not "
        + "declared",
      recovery: "refer to a credential of a declared access group")
  }
}
