/// Something that can be ended: an observation.
public protocol DefaultsDisposable {
  /// Ends it; it may have ended already.
  func dispose()
}
