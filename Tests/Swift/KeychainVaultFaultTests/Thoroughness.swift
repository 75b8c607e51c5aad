import Foundation

/// How much is tried of what can be tried: a part, or all where `PREPHIRENCES_THOROUGH` is 1, as by
/// `Scripts/test --thorough`.
enum Thoroughness {
  private static let isThorough =
    ProcessInfo.processInfo.environment["PREPHIRENCES_THOROUGH"] == "1"

  /// Calls of SQLite are tried one in so many.
  static let callStep = isThorough ? 1 : 7
  /// Of changed bytes, one in so many is tried.
  private static let byteStep = isThorough ? 1 : 10
  /// Of moments to kill a process at, one in so many is tried.
  private static let killStep = isThorough ? 1 : 3

  static func changedBytes(_ all: Int) -> Int { all / byteStep }

  static func kills(_ all: Int) -> Int { all / killStep }
}
