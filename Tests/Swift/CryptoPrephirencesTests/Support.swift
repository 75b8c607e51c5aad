internal import CryptoPrephirences
internal import Foundation

/// Ciphers for tests, with cheap passphrase hashing.
enum Ciphers {
  static func key(_ byte: UInt8 = 7) throws -> SecretCipher {
    let bytes = [UInt8](repeating: byte, count: 32)
    return try SecretCipher(key: SecretBytes(copying: bytes.span.bytes))
  }

  static func passphrase(_ text: String = "correct horse") throws -> SecretCipher {
    SecretCipher(
      passphrase: try SecretBytes(copying: text),
      parameters: PasswordHash.Parameters(memory: 64 << 10, passes: 2))
  }
}

/// A cipher without contexts and authentication, as another library may have.
struct ShiftingCipher: Cipher {
  func encrypt(_ data: Data) throws -> Data { Data(data.map { $0 &+ 13 }) }

  func decrypt(_ data: Data) throws -> Data { Data(data.map { $0 &- 13 }) }
}

struct Theme: Codable, Equatable {
  var name: String
  var scale: Double
}

/// Calls a body with the path of a temporary folder.
func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("crypto-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder.path)
}

func code(of body: () throws -> Void) -> CryptoPrephirencesError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? CryptoPrephirencesError)?.code
  }
}
