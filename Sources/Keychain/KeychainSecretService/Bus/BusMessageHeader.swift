/// The header of a D-Bus message, as far as it says what the message is and how much of it follows.
struct BusMessageHeader {
  enum Kind: UInt8 {
    case call = 1
    case reply = 2
    case error = 3
    case signal = 4
  }

  /// `nil` for a kind that this version of the protocol does not have.
  let kind: Kind?

  /// The number of bytes of the whole header, and of the body after it.
  let headerCount: Int
  let bodyCount: Int

  private let isBigEndian: Bool

  /// The number of the call that the message answers.
  private(set) var replySerial: UInt32?

  /// The type of the body.
  private(set) var signature = ""

  /// The number of bytes that say how long the rest is.
  static let fixedCount = 16

  /// The maximum number of bytes of a message, by the specification.
  private static let maximumCount = 1 << 27

  /// A header names objects and members, which takes much less.
  private static let maximumFieldCount = 1 << 16

  /// Reads the first bytes of a message; `nil` if they begin no valid message.
  init?(fixed bytes: ArraySlice<UInt8>) {
    guard bytes.count >= Self.fixedCount, let first = bytes.first,
      first == UInt8(ascii: "l") || first == UInt8(ascii: "B"),
      bytes[bytes.startIndex + 3] == 1
    else { return nil }
    isBigEndian = first == UInt8(ascii: "B")
    kind = Kind(rawValue: bytes[bytes.startIndex + 1])
    let body = Self.number(bytes, 4, isBigEndian)
    let fields = Self.number(bytes, 12, isBigEndian)
    guard fields <= Self.maximumFieldCount, body <= Self.maximumCount else { return nil }
    headerCount = (Self.fixedCount + Int(fields) + 7) & ~7
    bodyCount = Int(body)
  }

  /// Reads the fields that matter here; returns `false` if they are not valid.
  mutating func read(fields bytes: ArraySlice<UInt8>) -> Bool {
    let end = Self.fixedCount + Int(Self.number(bytes, 12, isBigEndian))
    var place = Self.fixedCount
    func byte(_ offset: Int) -> UInt8? {
      offset < end ? bytes[bytes.startIndex + offset] : nil
    }
    while place < end {
      // The code of the field, and its type: a signature of one letter.
      guard let code = byte(place), byte(place + 1) == 1, let type = byte(place + 2),
        byte(place + 3) == 0
      else { return false }
      place += 4
      switch Unicode.Scalar(type) {
      case "u":
        guard place + 4 <= end else { return false }
        if code == 5 { replySerial = Self.number(bytes, place, isBigEndian) }
        place += 4
      case "s", "o":
        guard place + 4 <= end else { return false }
        place += 4 + Int(Self.number(bytes, place, isBigEndian)) + 1
      case "g":
        guard let count = byte(place), place + 2 + Int(count) <= end else { return false }
        let start = bytes.startIndex + place + 1
        if code == 8 {
          signature = String(decoding: bytes[start..<(start + Int(count))], as: UTF8.self)
        }
        place += 2 + Int(count)
      default: return false
      }
      place = (place + 7) & ~7
    }
    return true
  }

  /// Returns an error as the answer to the same call.
  func error(named name: String) -> [UInt8] {
    var fields: [UInt8] = [4, 1, UInt8(ascii: "s"), 0]
    fields += Self.bytes(UInt32(name.utf8.count)) + Array(name.utf8) + [0]
    fields += [UInt8](repeating: 0, count: -fields.count & 7)
    fields += [5, 1, UInt8(ascii: "u"), 0] + Self.bytes(replySerial ?? 0)
    // Little-endian, an error that wants no reply, version 1, no body, any number.
    let fixed: [UInt8] = [UInt8(ascii: "l"), Kind.error.rawValue, 1, 1]
    let message =
      fixed + Self.bytes(0) + Self.bytes(.max) + Self.bytes(UInt32(fields.count)) + fields
    return message + [UInt8](repeating: 0, count: -message.count & 7)
  }

  private static func number(
    _ bytes: ArraySlice<UInt8>, _ offset: Int, _ isBigEndian: Bool
  ) -> UInt32 {
    let start = bytes.startIndex + offset
    return bytes[start..<(start + 4)].enumerated().reduce(0) { sum, next in
      sum | UInt32(next.element) << UInt32(8 * (isBigEndian ? 3 - next.offset : next.offset))
    }
  }

  private static func bytes(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
  }
}
