/// How much a build tries of what can be tried: a release build all, a debug build, which takes several
/// times as long for each, a part.
enum Thoroughness {
  #if DEBUG
  /// Calls of SQLite are tried one in so many.
  static let callStep = 7
  /// Of changed bytes, one in so many is tried.
  private static let byteStep = 10
  /// Of moments to kill a process at, one in so many is tried.
  private static let killStep = 3
  #else
  static let callStep = 1
  private static let byteStep = 1
  private static let killStep = 1
  #endif

  static func changedBytes(_ all: Int) -> Int { all / byteStep }

  static func kills(_ all: Int) -> Int { all / killStep }
}
