internal import Prephirences
internal import PrephirencesEtcd
internal import PrephirencesSystem
internal import SystemPackage

/// Why a file is not in step with the engine.
struct Trouble: Error, Hashable {
  /// A word for programs; released ones are never changed.
  enum Code: String {
    case unreachable, certificate, wrongPassword, passwordUnavailable, permissionDenied, readOnly
    case noSpace, foreignStore, newerForm, damaged, protocolViolation, noLibrary, invalidAddress
    case file
  }

  let code: Code
  let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  init(_ error: EtcdError) {
    let code: Code =
      switch error.code {
      case .invalidAddress: .invalidAddress
      case .noLibrary: .noLibrary
      case .unreachable, .timedOut, .cancelled, .compacted: .unreachable
      case .certificate: .certificate
      case .wrongPassword: .wrongPassword
      case .passwordUnavailable: .passwordUnavailable
      case .permissionDenied: .permissionDenied
      case .noSpace: .noSpace
      case .tooLarge, .notFound, .protocolViolation: .protocolViolation
      case .forked: .file
      }
    self.init(code, error.message)
  }

  init(_ error: any Error) {
    switch error {
    case let error as Trouble: self = error
    case let error as EtcdError: self.init(error)
    case let error as PreferencesError: self.init(.file, error.message)
    default: self.init(.file, "the preferences failed: \(type(of: error))")
    }
  }

  /// Whether another process may know what this one lacks.
  var isOfThisProcess: Bool { code == .wrongPassword || code == .passwordUnavailable }
}

extension Trouble {
  static func noThread(_ error: Errno) -> Self {
    Trouble(.file, "no thread can be started: \(error.wordsOfThread)")
  }
}
