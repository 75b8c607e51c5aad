internal import KeychainCredentials
internal import PrephirencesCommandLine

/// Attributes as a JSON object.
struct AttributesJSON: Encodable {
  let attributes: CredentialAttributes

  func encode(to encoder: any Encoder) throws {
    try JSONObject(attributes.map { ($0.name, $0.value) }).encode(to: encoder)
  }
}
