internal import Foundation

/// A value whose content is written unchanged.
protocol PlainScalar: Sendable {
  static var plainTag: PlainTag { get }

  func write(to writer: inout PlainWriter)

  init(from reader: inout PlainReader) throws(PlainReader.Malformed)
}

enum PlainScalars {
  private static let all: [any PlainScalar.Type] = [
    Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self, UInt.self,
    UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self, Float.self, Double.self,
    CGFloat.self, Decimal.self, String.self, Data.self, Date.self, URL.self, UUID.self,
  ]

  static let byTag = Dictionary(uniqueKeysWithValues: all.map { ($0.plainTag, $0) })
}

extension PlainScalar where Self: FixedWidthInteger {
  func write(to writer: inout PlainWriter) { writer.append(self) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self = try reader.integer()
  }
}

extension Int: PlainScalar { static let plainTag = PlainTag.int }
extension Int8: PlainScalar { static let plainTag = PlainTag.int8 }
extension Int16: PlainScalar { static let plainTag = PlainTag.int16 }
extension Int32: PlainScalar { static let plainTag = PlainTag.int32 }
extension Int64: PlainScalar { static let plainTag = PlainTag.int64 }
extension Int128: PlainScalar { static let plainTag = PlainTag.int128 }
extension UInt: PlainScalar { static let plainTag = PlainTag.uint }
extension UInt8: PlainScalar { static let plainTag = PlainTag.uint8 }
extension UInt16: PlainScalar { static let plainTag = PlainTag.uint16 }
extension UInt32: PlainScalar { static let plainTag = PlainTag.uint32 }
extension UInt64: PlainScalar { static let plainTag = PlainTag.uint64 }
extension UInt128: PlainScalar { static let plainTag = PlainTag.uint128 }

extension Bool: PlainScalar {
  static let plainTag = PlainTag.bool

  func write(to writer: inout PlainWriter) { writer.append(UInt8(self ? 1 : 0)) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self = try reader.byte() != 0
  }
}

extension Float: PlainScalar {
  static let plainTag = PlainTag.float

  func write(to writer: inout PlainWriter) { writer.append(bitPattern) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self.init(bitPattern: try reader.integer())
  }
}

extension Double: PlainScalar {
  static let plainTag = PlainTag.double

  func write(to writer: inout PlainWriter) { writer.append(bitPattern) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self.init(bitPattern: try reader.integer())
  }
}

extension CGFloat: PlainScalar {
  static let plainTag = PlainTag.cgFloat

  func write(to writer: inout PlainWriter) { Double(native).write(to: &writer) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self.init(try Double(from: &reader))
  }
}
