/// All values of a domain that can be read, and why the others cannot.
struct DomainContents {
  var values: [(key: String, value: StoredValue)] = []
  var unreadable: [(key: String, failure: any Error)] = []

  /// Why there may be other values: those of `UserDefaults` are not imported.
  var importFailure: (any Error)?
}
