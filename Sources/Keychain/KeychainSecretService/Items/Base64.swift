internal import FoundationEssentials

/// Base64 for names, which are not secret.
enum Base64 {
  static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
