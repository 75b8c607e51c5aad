/// Durable preferences that are in step with those of other machines.
public final class SharedPreferences: Sendable {
  /// The name of the suite.
  public let suiteName: String

  /// Names the shared preferences of a suite, which are local only if nothing is configured for it.
  public init(suiteName: String) { self.suiteName = suiteName }
}
