/// An error that a command threw while it ran, not one of the argument parser.
struct HostFailure: Error {
  let error: any Error

  init(_ error: any Error) { self.error = error }
}
