internal import Foundation
internal import KeychainSecrets

/// The start of encrypted data, which describes its key.
///
/// | bytes | mean |
/// | --- | --- |
/// | 4 | `PKC1` |
/// | 1 | 0 a key, 1 a passphrase |
/// | 8, 4, 16 | of a passphrase: memory in bytes, passes, salt; numbers are little-endian |
/// | 16 | check: ``CipherKey`` |
/// | 40 and the length of the data | a `SecretBox` |
enum CipherHeader: Hashable {
  case key
  case passphrase(PasswordHash.Parameters, salt: [UInt8])

  private static let magic = Data("PKC".utf8)
  private static let version = UInt8(ascii: "1")

  var bytes: Data {
    var bytes = Self.magic + [Self.version]
    switch self {
    case .key: bytes.append(0)
    case .passphrase(let parameters, let salt):
      bytes.append(1)
      bytes.append(littleEndian: parameters.memory)
      bytes.append(littleEndian: parameters.passes)
      bytes.append(contentsOf: salt)
    }
    return bytes
  }

  /// Splits encrypted data into its header and the rest.
  static func split(_ data: Data) throws(CryptoPrephirencesError) -> (CipherHeader, Data) {
    guard data.starts(with: magic) else {
      throw CryptoPrephirencesError(.notEncrypted, "the data is not encrypted by this cipher")
    }
    var rest = PlainReader(data.dropFirst(magic.count))
    do {
      guard try rest.byte() == version else { throw CryptoPrephirencesError.newer }
      switch try rest.byte() {
      case 0: return (.key, rest.rest)
      case 1:
        let parameters = PasswordHash.Parameters(
          memory: try rest.integer(), passes: try rest.integer())
        let salt = try rest.bytes(PasswordHash.saltCount)
        return (.passphrase(parameters, salt: [UInt8](salt)), rest.rest)
      default: throw CryptoPrephirencesError.newer
      }
    } catch let error as CryptoPrephirencesError {
      throw error
    } catch {
      throw .truncated
    }
  }
}

extension CryptoPrephirencesError {
  fileprivate static var newer: Self {
    Self(.unsupported, "the data is encrypted in a newer form, or damaged")
  }
}
