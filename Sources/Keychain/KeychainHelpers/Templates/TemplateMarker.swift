internal import KeychainCredentials
internal import KeychainSecrets

/// A marker of a template.
struct TemplateMarker: Sendable {
  let reference: CredentialReference

  /// The format around it; `nil` if the secret is put in as it is.
  let form: TemplateForm?

  /// The quote that is open before it.
  let quote: UInt8?

  let place: TemplatePlace

  /// Writes what its reference names.
  func write(
    _ secret: borrowing SecretBytes, to buffer: inout SecretBuffer
  ) throws(KeychainError) {
    let objection = secret.withBytes { bytes in form?.objection(to: bytes) }
    if let objection { throw .unwritable(reference, objection) }
    do throws(SecretsError) {
      try secret.withBytes { bytes throws(SecretsError) in
        guard let form else { return try buffer.append(bytes) }
        try form.write(bytes, within: quote, to: &buffer)
      }
    } catch {
      throw KeychainError(error)
    }
  }

  /// Calls a closure with the reference; a failure says where the marker is.
  func located<Result: ~Copyable>(
    _ body: (CredentialReference) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    do throws(KeychainError) {
      return try body(reference)
    } catch {
      throw place.located(error)
    }
  }
}

extension KeychainError {
  fileprivate static func unwritable(_ reference: CredentialReference, _ objection: String) -> Self
  {
    Self(
      .undecodable, "what '\(reference)' names \(objection)",
      recovery: "add encoding=base64 to the reference, and decode it where it is used")
  }
}
