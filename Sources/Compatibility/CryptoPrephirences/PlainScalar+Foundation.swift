internal import Foundation

extension String: PlainScalar {
  static let plainTag = PlainTag.string

  func write(to writer: inout PlainWriter) { writer.append(self) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self = try reader.text()
  }
}

extension Data: PlainScalar {
  static let plainTag = PlainTag.data

  func write(to writer: inout PlainWriter) { writer.append(self) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self = try reader.data()
  }
}

extension Date: PlainScalar {
  static let plainTag = PlainTag.date

  func write(to writer: inout PlainWriter) { timeIntervalSinceReferenceDate.write(to: &writer) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self.init(timeIntervalSinceReferenceDate: try Double(from: &reader))
  }
}

extension UUID: PlainScalar {
  static let plainTag = PlainTag.uuid

  func write(to writer: inout PlainWriter) { writer.append(uuidString) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    guard let uuid = UUID(uuidString: try reader.text()) else { throw PlainReader.Malformed() }
    self = uuid
  }
}

/// Stores the URL as given, and the base of a relative one.
extension URL: PlainScalar {
  static let plainTag = PlainTag.url

  func write(to writer: inout PlainWriter) {
    writer.append(relativeString)
    writer.append(baseURL?.absoluteString ?? "")
  }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    let (text, base) = (try reader.text(), try reader.text())
    guard let url = URL(string: text, relativeTo: base.isEmpty ? nil : URL(string: base)) else {
      throw PlainReader.Malformed()
    }
    self = url
  }
}

extension Decimal: PlainScalar {
  static let plainTag = PlainTag.decimal

  private static let notANumber = "NaN"

  func write(to writer: inout PlainWriter) { writer.append(isNaN ? Self.notANumber : description) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    let text = try reader.text()
    guard text != Self.notANumber else {
      self = .nan
      return
    }
    guard let decimal = Decimal(string: text) else { throw PlainReader.Malformed() }
    self = decimal
  }
}
