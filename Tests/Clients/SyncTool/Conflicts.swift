internal import Prephirences
internal import PrephirencesShared

/// What the program does about conflicts.
enum Conflicts {
  struct Undecided: Error {}

  /// Returns the closure for a word; `nil` if the order of the engine decides.
  static func resolver(_ decision: String) -> SharedPreferences.Resolver? {
    switch decision {
    case "local": { _ in .keepLocal }
    case "taking": { _ in .takeShared }
    case "greatest":
      { .set($0.values.map { (key: $0.key, value: greatest($0.local, $0.shared)) }) }
    case "failing": { _ in throw Undecided() }
    default: nil
    }
  }

  /// Every machine finds the same, in whatever order it sees the values.
  private static func greatest(
    _ first: PreferenceValue?, _ second: PreferenceValue?
  ) -> PreferenceValue? {
    [first, second].compactMap { $0?.object as? String }.max().map { .string($0) }
  }
}
