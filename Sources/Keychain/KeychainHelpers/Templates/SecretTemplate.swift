public import KeychainCredentials
public import KeychainSecrets

/// A text with references in the places of secrets, such as `password = {{ keychain://db/admin }}`.
///
/// A marker is `{{`, a reference and `}}`, on one line; white space may be around the reference. Two
/// braces that begin anything else are an error, since a misspelt reference would stay in the text
/// without being noticed. `{{ "{{" }}` stands for two braces. All other bytes stay as they are, whether
/// or not they are text.
///
/// Markers are replaced once: a secret that has `{{` is not read again. Secrets are put in as they are,
/// unless a form follows the reference after `|`: `json`, `yaml`, `shell` or `url`. Then the secret gets
/// the escapes of that format. Within quotes that begin on the same line, it keeps them intact;
/// elsewhere it gets quotes of its own, except in a URL, which has none.
public struct SecretTemplate: Sendable {
  enum Part: Sendable {
    case bytes(Range<Int>)
    case marker(TemplateMarker)
  }

  private let contents: [UInt8]
  private let parts: [Part]

  /// Reads a template.
  ///
  /// - Parameter contents: Its bytes.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `undecodable` if two braces begin no
  ///   marker, if its form is unknown, or if its place is one whose secret the form cannot keep intact,
  ///   such as single quotes of YAML; `invalidArgument` if a reference is wrong; with the line and
  ///   column.
  public init(_ contents: [UInt8]) throws(KeychainError) {
    self.contents = contents
    var reader = TemplateReader(contents)
    parts = try reader.parts()
  }

  /// The references, in their order.
  public var references: [CredentialReference] {
    parts.compactMap { part in
      if case .marker(let marker) = part { marker.reference } else { nil }
    }
  }

  /// Returns the text with what the references name.
  ///
  /// - Parameters:
  ///   - resolver: Reads the store.
  ///   - allowance: What the references may name; it is checked before anything is read.
  /// - Returns: The text, in guarded memory.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `refused` if a reference is not allowed,
  ///   `tooLarge` if the text gets longer than 64 MiB, `undecodable` if a form cannot hold what a
  ///   reference names, or as `ReferenceResolver.resolve(_:)`; with the line and column.
  public func fill(
    with resolver: ReferenceResolver, allowing allowance: ReferenceAllowance
  ) throws(KeychainError) -> SecretBytes {
    for case .marker(let marker) in parts {
      try marker.located { reference throws(KeychainError) in try allowance.check(reference) }
    }
    var filled = try translated(secrets: SecretBuffer())
    for part in parts {
      switch part {
      case .bytes(let range):
        try translating { () throws(SecretsError) in
          try filled.append(contents.span.bytes.extracting(range))
        }
      case .marker(let marker):
        try marker.located { reference throws(KeychainError) in
          try marker.write(resolver.resolve(reference), to: &filled)
          guard filled.count <= Self.limit else { throw .filledTooLong(Self.limit) }
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
}

extension KeychainError {
  fileprivate static func filledTooLong(_ limit: Int) -> Self {
    Self(.tooLarge, "the filled template would be longer than \(limit) bytes")
  }
}
