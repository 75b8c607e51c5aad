internal import Foundation
internal import KeychainSecrets

/// A key of 32 bytes, and the header of data encrypted with it.
///
/// The check is `D(secret, "pc1/check", header)[0..<16]` and follows the header; the key of the box
/// is `D(secret, "pc1/message", header ‖ context)`, where `D` is ``KeyDerivation``.
final class CipherKey: CipherKeys {
  private static let checkCount = 16

  let header: CipherHeader
  private let secret: SecretBytes
  private let check: Data

  init(header: CipherHeader, secret: consuming SecretBytes) throws(CryptoPrephirencesError) {
    guard secret.count == SecretBox.keyCount else {
      throw CryptoPrephirencesError(.unavailable, "a cipher key must have 32 bytes")
    }
    self.header = header
    check = try Self.check(of: secret, header)
    self.secret = secret
  }

  func encrypt(_ data: Data, _ context: Data) throws(CryptoPrephirencesError) -> Data {
    do throws(SecretsError) {
      let message = try SecretBytes(copying: data.span.bytes)
      return header.bytes + check + Data(try SecretBox.seal(message, with: messageKey(context)))
    } catch {
      throw CryptoPrephirencesError(error)
    }
  }

  func decrypt(_ body: Data, _ context: Data) throws(CryptoPrephirencesError) -> Data {
    guard body.count >= Self.checkCount + SecretBox.overhead else { throw .truncated }
    guard Data(body.prefix(Self.checkCount)) == check else {
      throw CryptoPrephirencesError(.wrongKey, "the key or passphrase is wrong")
    }
    let box = Data(body.dropFirst(Self.checkCount))
    do throws(SecretsError) {
      let message = try SecretBox.open(box.span.bytes, with: messageKey(context))
      return message.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Data($0) } }
    } catch {
      throw CryptoPrephirencesError(error)
    }
  }

  func forEncrypting() -> CipherKey { self }

  func forDecrypting(_ header: CipherHeader) throws(CryptoPrephirencesError) -> CipherKey {
    guard header == self.header else {
      throw CryptoPrephirencesError(.wrongKey, "the data is encrypted with a passphrase")
    }
    return self
  }

  func note(_ key: CipherKey) {}

  private func messageKey(_ context: Data) throws(SecretsError) -> SecretBytes {
    let fields = header.bytes + context
    return try KeyDerivation.key(from: secret, label: "pc1/message", fields: fields.span.bytes)
  }

  private static func check(
    of secret: borrowing SecretBytes, _ header: CipherHeader
  ) throws(CryptoPrephirencesError) -> Data {
    let fields = header.bytes
    do throws(SecretsError) {
      let tag = try KeyDerivation.tag(from: secret, label: "pc1/check", fields: fields.span.bytes)
      return Data(tag.prefix(checkCount))
    } catch {
      throw CryptoPrephirencesError(error)
    }
  }
}

extension CryptoPrephirencesError {
  init(_ error: SecretsError) {
    self =
      error.code == .authenticationFailed
      ? .foreignContext : Self(.unavailable, error.description)
  }
}
