package import Foundation
package import KeychainSecrets
internal import Testing

extension Data {
  package init(hexadecimal: String) throws {
    let digits = Array(hexadecimal)
    self.init(
      try stride(from: 0, to: digits.count, by: 2).map { index in
        try #require(UInt8(String(digits[index...(index + 1)]), radix: 16))
      })
  }
}

extension SecretBytes {
  package borrowing func hexadecimal() -> String { withBytes { $0.array.hexadecimal } }
}

extension Collection<UInt8> {
  package var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
