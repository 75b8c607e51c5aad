public import KeychainCredentials
public import KeychainSecrets

/// A text with references in the places of secrets, such as `password = {{ keychain://db/admin }}`.
///
/// A marker is `{{`, a reference and `}}`, on one line; white space may be around the reference. Two
/// braces that begin anything else are an error, since a misspelt reference would stay in the text
/// without being noticed. `{{ "{{" }}` stands for two braces. All other bytes stay as they are, whether
/// or not they are text.
///
/// Markers are replaced once: a secret that has `{{` is not read again. Secrets are put in as they
/// are, without quotes or escapes of the file's format.
public struct SecretTemplate: Sendable {
  enum Part: Sendable {
    case bytes(Range<Int>)
    case reference(CredentialReference, TemplatePlace)
  }

  private let contents: [UInt8]
  private let parts: [Part]

  /// Reads a template.
  ///
  /// - Parameter contents: Its bytes.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `undecodable` if two braces begin no
  ///   marker, or `invalidArgument` if a reference is wrong; with the line and column.
  public init(_ contents: [UInt8]) throws(KeychainError) {
    self.contents = contents
    var reader = TemplateReader(contents)
    parts = try reader.parts()
  }

  /// The references, in their order.
  public var references: [CredentialReference] {
    parts.compactMap { part in
      if case .reference(let reference, _) = part { reference } else { nil }
    }
  }

  /// Returns the text with what the references name.
  ///
  /// - Parameters:
  ///   - resolver: Reads the store.
  ///   - allowance: What the references may name; it is checked before anything is read.
  /// - Returns: The text, in guarded memory.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `refused` if a reference is not allowed,
  ///   `tooLarge` if the text gets longer than 64 MiB, or as `ReferenceResolver.resolve(_:)`; with the
  ///   line and column.
  public func fill(
    with resolver: ReferenceResolver, allowing allowance: ReferenceAllowance
  ) throws(KeychainError) -> SecretBytes {
    try eachReference { reference throws(KeychainError) in try allowance.check(reference) }
    var filled = try translated(secrets: SecretBuffer())
    for part in parts {
      switch part {
      case .bytes(let range): try Self.append(contents.span.bytes.extracting(range), to: &filled)
      case .reference(let reference, let place):
        let secret = try located(place) { () throws(KeychainError) in
          try resolver.resolve(reference)
        }
        guard filled.count + secret.count <= Self.limit else {
          throw place.located(.filledTooLong(Self.limit))
        }
        try secret.withBytes { bytes throws(KeychainError) in
          try Self.append(bytes, to: &filled)
        }
      }
    }
    do throws(SecretsError) {
      return try filled.finish()
    } catch {
      throw KeychainError(error)
    }
  }

  /// A template can name a long secret often.
  private static let limit = 64 << 20

  private static func append(
    _ bytes: RawSpan, to buffer: inout SecretBuffer
  ) throws(KeychainError) {
    do throws(SecretsError) {
      try buffer.append(bytes)
    } catch {
      throw KeychainError(error)
    }
  }

  private func eachReference(
    _ body: (CredentialReference) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    for case .reference(let reference, let place) in parts {
      try located(place) { () throws(KeychainError) in try body(reference) }
    }
  }

  private func located<Result: ~Copyable>(
    _ place: TemplatePlace, _ body: () throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    do throws(KeychainError) {
      return try body()
    } catch {
      throw place.located(error)
    }
  }
}

extension KeychainError {
  fileprivate static func filledTooLong(_ limit: Int) -> Self {
    Self(.tooLarge, "the filled template would be longer than \(limit) bytes")
  }
}
