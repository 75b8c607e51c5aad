internal import Foundation
package import KeychainCredentials
package import KeychainSecrets
internal import PrephirencesText

/// The plaintext of an item's metadata.
package enum MetadataCoding {
  /// The maximum number of bytes: the longest texts in as many fields as they can fill, because
  /// attributes have different names.
  package static let maximumCount = 5 * Credential.maximumMetadataCount

  /// Returns the identity's fields, from which the item's id is derived.
  package static func identityFields(_ identity: CredentialIdentity) -> [UInt8] {
    FieldWriter.fields { writer in
      switch identity.kind {
      case .genericPassword(let service, let account):
        writer.integer(UInt8(0))
        for text in [identity.accessGroup, service, account] { writer.text(text) }
      case .internetPassword(let password):
        writer.integer(UInt8(1))
        writer.text(identity.accessGroup)
        writer.text(password.server)
        writer.text(password.protocol)
        writer.integer(UInt32(password.port))
        writer.text(password.path)
        writer.text(password.account)
        writer.text(password.securityDomain)
        writer.text(password.authenticationType)
      }
    }
  }

  package static func encode(_ credential: Credential) throws(KeychainError) -> SecretBytes {
    let fields =
      identityFields(credential.identity)
      + FieldWriter.fields { writer in
        for text in [credential.label, credential.comment, credential.contentType] {
          writer.optional(text) { $0.text($1) }
        }
        for date in [credential.created, credential.modified] {
          writer.integer(date.microseconds ?? 0)
        }
        writer.optional(credential.expires?.microseconds) { $0.integer($1) }
        writer.list(Array(credential.attributes)) { writer, pair in
          writer.text(pair.name)
          writer.text(pair.value)
        }
      }
    return try translated(secrets: unsafe SecretBytes(copying: fields.span.bytes))
  }

  /// Returns a credential without a version.
  ///
  /// `textLimit` is the maximum number of bytes of all texts together. Exports have another one.
  package static func decode(
    _ bytes: RawSpan, _ accessibility: Accessibility,
    textLimit: Int = Credential.maximumMetadataCount
  ) throws(FieldReader.Malformed) -> Credential {
    var reader = FieldReader(textLimit: textLimit)
    var credential = Credential(try identity(&reader, bytes), accessibility: accessibility)
    let text = { (reader: inout FieldReader, bytes: RawSpan) throws(FieldReader.Malformed) in
      try reader.text(bytes)
    }
    credential.label = try reader.optional(bytes, text)
    credential.comment = try reader.optional(bytes, text)
    credential.contentType = try reader.optional(bytes, text)
    credential.created = Date(microseconds: try reader.integer(bytes))
    credential.modified = Date(microseconds: try reader.integer(bytes))
    credential.expires = try reader.optional(bytes) { reader, bytes throws(FieldReader.Malformed) in
      Date(microseconds: try reader.integer(bytes))
    }
    credential.attributes = try attributes(&reader, bytes)
    try reader.end(bytes)
    return credential
  }

  private static func identity(
    _ reader: inout FieldReader, _ bytes: RawSpan
  ) throws(FieldReader.Malformed) -> CredentialIdentity {
    switch try reader.integer(bytes, as: UInt8.self) {
    case 0:
      let group = try reader.text(bytes)
      return .genericPassword(
        service: try reader.text(bytes), account: try reader.text(bytes), accessGroup: group)
    case 1:
      let group = try reader.text(bytes)
      var password = InternetPassword(server: try reader.text(bytes), account: "")
      password.protocol = try reader.text(bytes)
      guard let port = UInt16(exactly: try reader.integer(bytes, as: UInt32.self)) else {
        throw FieldReader.Malformed()
      }
      password.port = port
      password.path = try reader.text(bytes)
      password.account = try reader.text(bytes)
      password.securityDomain = try reader.text(bytes)
      password.authenticationType = try reader.text(bytes)
      return CredentialIdentity(.internetPassword(password), accessGroup: group)
    default: throw FieldReader.Malformed()
    }
  }

  private static func attributes(
    _ reader: inout FieldReader, _ bytes: RawSpan
  ) throws(FieldReader.Malformed) -> CredentialAttributes {
    var pairs: [(name: String, value: String)] = []
    for _ in 0..<(try reader.count(bytes, ofSize: 4 + 4)) {
      let name = try reader.text(bytes)
      guard !name.isEmpty, pairs.last?.name.hasLesserBytes(than: name) ?? true,
        !SearchablePair.reservedNames.contains(name)
      else { throw FieldReader.Malformed() }
      pairs.append((name, try reader.text(bytes)))
    }
    return CredentialAttributes(inOrder: pairs)
  }
}
