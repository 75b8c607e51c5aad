internal import PreferencesCore
internal import PrephirencesSystem

/// Notices that this process was forked from one that used preferences.
///
/// SQLite's locks belong to the parent.
enum ForkGuard {
  private static let mark = ForkMark()

  /// Begins to notice forks.
  static func register() { mark.set() }

  /// Whether this process must not use preferences.
  static var isForked: Bool { mark.isForked }

  static func check() throws(PreferencesError) {
    guard !isForked else {
      throw PreferencesError(
        .forked,
        "this process was forked from one that used preferences; "
          + "use them in a process that was started by exec")
    }
  }
}
