internal import CryptoPrephirences
internal import Foundation

/// Ciphers for tests; a guess of their passphrases costs next to nothing.
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

/// A cipher that knows neither contexts nor tampering, as one of another library may be.
struct ShiftingCipher: Cipher {
  func encrypt(_ data: Data) throws -> Data { Data(data.map { $0 &+ 13 }) }

  func decrypt(_ data: Data) throws -> Data { Data(data.map { $0 &- 13 }) }
}

struct Theme: Codable, Equatable {
  var name: String
  var scale: Double
}

/// Calls a body with the path of a folder that is removed afterwards.
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
