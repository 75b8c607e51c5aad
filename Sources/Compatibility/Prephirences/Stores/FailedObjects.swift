internal import PrephirencesSystem

/// The last failures of objects that cannot store them.
///
/// An object has an entry only while it lives and if its last change failed.
final class FailedObjects: Sendable {
  static let shared = FailedObjects()

  private struct Entry {
    weak var object: AnyObject?
    let error: PreferencesError
  }

  // Unchecked because objects are only compared here, by identity.
  private struct Entries: @unchecked Sendable {
    var all: [ObjectIdentifier: Entry] = [:]
  }

  private let entries = PosixMutex(Entries())

  subscript(object: AnyObject) -> PreferencesError? {
    get {
      entries.withLock { [identity = ObjectIdentifier(object)] entries in
        guard let entry = entries.all[identity], entry.object != nil else { return nil }
        return entry.error
      }
    }
    set {
      nonisolated(unsafe) let entry = newValue.map { Entry(object: object, error: $0) }
      entries.withLock { [identity = ObjectIdentifier(object)] entries in
        entries.all[identity] = entry
        if entry != nil { entries.all = entries.all.filter { $1.object != nil } }
      }
    }
  }
}
