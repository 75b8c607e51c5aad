#if RecordPreferences
internal import Foundation
internal import GRDB
internal import Prephirences

/// A column, and which values its declared type accepts.
struct RecordColumn {
  private enum Kind {
    case bool, integer, number, text, date, data, any
  }

  let name: String
  let isNullable: Bool
  private let kind: Kind

  init(_ column: ColumnInfo, isKey: Bool) {
    name = column.name
    isNullable = !column.isNotNull && !isKey
    kind = Self.kind(of: column.type.uppercased())
  }

  /// Matches names as SQLite and GRDB do, in SQLite's order.
  private static func kind(of type: String) -> Kind {
    if type.contains("BOOL") { return .bool }
    if type.contains("DATE") || type.contains("TIME") { return .date }
    if type.contains("INT") { return .integer }
    if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) { return .text }
    if type.contains("BLOB") { return .data }
    if ["REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL"].contains(where: type.contains) {
      return .number
    }
    return .any
  }

  /// Returns the value of a cell.
  func value(of cell: DatabaseValue) -> Any? {
    switch (kind, cell.storage) {
    case (_, .null): nil
    case (.bool, .int64(let number)): number != 0
    case (.date, _): Date.fromDatabaseValue(cell) ?? plain(cell)
    case (.number, .int64(let number)): Double(exactly: number) ?? Int(number)
    default: plain(cell)
    }
  }

  private func plain(_ cell: DatabaseValue) -> Any? {
    switch cell.storage {
    case .null: nil
    case .int64(let number): Int(number)
    case .double(let number): number
    case .string(let text): text
    case .blob(let data): data
    }
  }

  /// Returns the cell that the column stores for a value.
  func cell(of value: Any) throws(PreferencesError) -> DatabaseValue {
    let cell: DatabaseValue? =
      switch kind {
      case .bool: (PreferenceCell.isBool(value) ? value as? Bool : nil)?.databaseValue
      case .integer: PreferenceCell.integer(value)?.databaseValue
      case .number: PreferenceCell.number(value)
      case .text: PreferenceCell.text(value)?.databaseValue
      case .date: (value as? Date)?.databaseValue
      case .data: PreferenceCell.data(value)?.databaseValue
      case .any: PreferenceCell.any(value)
      }
    guard let cell else {
      throw PreferencesError(
        .typeMismatch, "the column '\(name)' does not accept values of the type \(type(of: value))")
    }
    return cell
  }
}

/// The stored forms of preference values.
private enum PreferenceCell {
  static func isBool(_ value: Any) -> Bool {
    type(of: value) == Bool.self
      || [true, false].contains { (value as AnyObject) === NSNumber(value: $0) }
  }

  static func integer(_ value: Any) -> Int64? {
    switch value {
    case _ where isBool(value): nil
    case let number as any BinaryInteger: Int64(exactly: number)
    case let number as NSNumber where type(of: value) is AnyClass: value as? Int64 ?? exact(number)
    default: nil
    }
  }

  static func number(_ value: Any) -> DatabaseValue? {
    if let integer = integer(value) { return integer.databaseValue }
    if let number = value as? any BinaryFloatingPoint { return finite(Double(number)) }
    return type(of: value) is AnyClass ? (value as? Double).flatMap(finite) : nil
  }

  static func text(_ value: Any) -> String? {
    switch value {
    case let text as String: text
    case let url as URL: url.absoluteString
    case let uuid as UUID: uuid.uuidString
    default: nil
    }
  }

  static func data(_ value: Any) -> Data? {
    if let uuid = value as? UUID { return withUnsafeBytes(of: uuid.uuid) { Data($0) } }
    return value as? Data
  }

  static func any(_ value: Any) -> DatabaseValue? {
    if isBool(value) { return (value as? Bool)?.databaseValue }
    return number(value) ?? text(value)?.databaseValue ?? (value as? Data)?.databaseValue
      ?? (value as? Date)?.databaseValue
  }

  private static func exact(_ number: NSNumber) -> Int64? { Int64(exactly: number.doubleValue) }

  /// SQLite stores not-a-number as `NULL`.
  private static func finite(_ number: Double) -> DatabaseValue? {
    number.isNaN ? nil : number.databaseValue
  }
}
#endif
