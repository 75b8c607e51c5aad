/// The parts of manual pages that are in no command's definition.
enum ManualText {
  /// The date of the last revision of this text; no page contains the date or place of its build.
  static let date = "2026-11-21"
  static let volume = "User Commands"
  static let also = "Also called"
}
