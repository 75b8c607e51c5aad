/// The outcome of a call.
///
/// It is not a `Result`: the first use of one makes the runtime look for the conformance of its
/// error to `Error`, through all conformances of the program.
enum BusAnswer: Sendable {
  case success(BusValue)
  case failure(BusError)

  /// The failure, if there is one.
  var error: BusError? { if case .failure(let error) = self { error } else { nil } }

  /// Returns the value, or throws the failure.
  func get() throws(BusError) -> BusValue {
    switch self {
    case .success(let value): value
    case .failure(let error): throw error
    }
  }
}
