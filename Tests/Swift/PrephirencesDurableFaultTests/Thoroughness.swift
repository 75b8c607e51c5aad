import Foundation

/// The share of the cases that is tested: a part, or all if `PREPHIRENCES_THOROUGH` is 1, as set by
/// `Scripts/test --thorough`.
enum Thoroughness {
  static let isThorough = ProcessInfo.processInfo.environment["PREPHIRENCES_THOROUGH"] == "1"

  /// One of this many calls of SQLite is tested.
  static let callStep = isThorough ? 1 : 7

  /// The same in shared files, where operations make more calls.
  static let sharedCallStep = isThorough ? 1 : 10

  /// The share of other cases.
  static func tried(_ all: Int) -> Int { isThorough ? all : all / 10 }
}
