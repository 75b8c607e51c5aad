/// The error of a store that can be reported as a ``PreferencesError``; for authors of stores.
public protocol PreferencesErrorConvertible: Error {
  /// The same failure, as an error of preferences.
  ///
  /// Its message must not contain a value.
  var preferencesError: PreferencesError { get }
}

extension PreferencesError: PreferencesErrorConvertible {
  /// The error itself.
  public var preferencesError: PreferencesError { self }
}

extension PreferencesError {
  /// Returns the failure of a store as an error of preferences.
  ///
  /// Only the type of an unknown error is part of the message, because its text could contain a
  /// value.
  package static func converting(_ error: any Error, _ what: @autoclosure () -> String) -> Self {
    (error as? any PreferencesErrorConvertible)?.preferencesError
      ?? Self(.inputOutput, "\(what()): the store failed with an error of type \(type(of: error))")
  }
}
