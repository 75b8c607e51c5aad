package import Foundation

extension Data {
  /// The bytes in lower-case hexadecimal digits.
  ///
  /// Foundation's `String(format:)` takes a twentieth of the time of a whole command for its setup.
  package var hexadecimal: String {
    var digits: [UInt8] = []
    for byte in self { digits += [Self.digit(byte >> 4), Self.digit(byte & 15)] }
    return String(decoding: digits, as: UTF8.self)
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) + value
  }
}
