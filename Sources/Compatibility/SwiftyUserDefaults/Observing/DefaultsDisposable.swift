/// Something that can be ended, on any thread: an observation.
///
/// It is `Sendable`, so that the `deinit` of an actor or of a class of the main actor can end it.
public protocol DefaultsDisposable: Sendable {
  /// Ends it; it may have ended already.
  func dispose()
}
